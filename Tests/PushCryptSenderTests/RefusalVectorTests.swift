import Foundation
import PushCryptCore
import PushCryptPrimitives
import PushCryptSender
import PushCryptTestSupport
import Testing

/// Conformance/vectors/sender-refusals-v1.json: what every sender refuses, beside what it accepts.
@Suite("refusals of every sender")
struct RefusalVectorTests {
    struct File: Decodable, Sendable {
        let topic: String
        let at: Int64
        /// JWKs by name, as a sender has them.
        let records: [String: String]
        let seal: [Sealing]
        let register: [Registering]
        let store: [Storing]
        let challenge: [Challenge]

        static let shared = Result { try Vectors.loadOwn("sender-refusals-v1.json", as: File.self) }
    }

    struct Sealing: Decodable, Sendable, CustomStringConvertible {
        let name: String
        /// nil for a push that is sealed.
        let failure: String?
        let payload: String
        let to: String
        let isSigned: Bool
        let placeholder: [String: String]
        let options: Options

        var description: String { name }
    }

    struct Options: Decodable, Sendable {
        let expiresAfter: Int?
        let limit: Int?
        let campaign: String?
        let exposed: [String]?
        let retract: [String]?
        let quiet: Bool?
        let badgeAdd: Int?
        let attachments: [Attachment]?
        let minimumSuite: UInt8?
        let requiresDevice: Bool?
    }

    struct Attachment: Decodable, Sendable {
        let url: String
        let key: String
        let size: Int64
        let sha256: String
        let type: String
        let use: String?

        func reference() throws -> AttachmentReference {
            let json = """
                {"url":"\(url)","key":"\(key)","size":\(size),"sha256":"\(sha256)","type":"\(type)"\
                \(use.map { ",\"use\":\"\($0)\"" } ?? "")}
                """
            return try #require(try AttachmentReference(JSONText(Array(json.utf8)).root))
        }
    }

    struct Registering: Decodable, Sendable, CustomStringConvertible {
        let name: String
        let failure: String?
        let record: String
        let requiring: [String]

        var description: String { name }
    }

    struct Storing: Decodable, Sendable, CustomStringConvertible {
        struct Row: Decodable, Sendable {
            let record: String
            let account: String
            let deviceToken: String

            func stored() throws -> StoredRegistration {
                StoredRegistration(
                    try Registration(json: Array(record.utf8), requiring: []), account: account,
                    deviceToken: deviceToken)
            }
        }

        let name: String
        let failure: String?
        let upload: Row
        let stored: [Row]
        let isProven: Bool
        let allowsLowerSuite: Bool
        let isWritten: Bool
        let removed: [String]

        var description: String { name }
    }

    struct Challenge: Decodable, Sendable, CustomStringConvertible {
        let name: String
        let failure: String?
        let record: String
        let host: String

        var description: String { name }
    }

    private static func expect(_ failure: String?, _ call: () throws -> Void) throws {
        do {
            try call()
            #expect(failure == nil)
        } catch let error as SenderError {
            #expect(error.code.description == failure, "\(error)")
        }
    }

    @Test("a push is sealed, or refused with the code of the list", arguments: try File.shared.get().seal)
    func seal(_ vector: Sealing) throws {
        let file = try File.shared.get()
        func record(_ name: String) throws -> [UInt8] { Array(try #require(file.records[name]).utf8) }
        let signer = try vector.isSigned ? Keyset(json: record("sender")).senderKey(at: UnixTime(file.at)) : nil
        let sealer = try Sealer(topic: file.topic, signer: signer.map(Signer.key), clock: { UnixTime(file.at) })
        let texts = vector.placeholder
        let placeholder = Placeholder(
            title: texts["title"], subtitle: texts["subtitle"], body: texts["body"],
            titleLocKey: texts["title-loc-key"],
            subtitleLocKey: texts["subtitle-loc-key"], bodyLocKey: texts["loc-key"])
        let options = vector.options
        try Self.expect(vector.failure) {
            _ = try sealer.seal(
                Array(vector.payload.utf8), to: Recipient(jwk: record(vector.to)), placeholder: placeholder,
                attachments: (options.attachments ?? []).map { try $0.reference() }
            ) {
                if let seconds = options.expiresAfter { $0.expiresAfter = .seconds(seconds) }
                if let limit = options.limit { $0.limitInBytes = limit }
                $0.campaign = options.campaign
                $0.exposed = options.exposed ?? []
                $0.retractedIDs = options.retract ?? []
                $0.isQuiet = options.quiet ?? false
                $0.badgeIncrement = options.badgeAdd
                $0.minimumSuite = options.minimumSuite.flatMap(Suite.init(rawValue:))
                $0.requiresDevice = options.requiresDevice ?? false
            }
        }
    }

    @Test("a record is read, or refused with the code of the list", arguments: try File.shared.get().register)
    func register(_ vector: Registering) throws {
        try Self.expect(vector.failure) {
            let requirements = try vector.requiring.map { name in
                let known: [String: Registration.Requirements] = ["psk": .psk, "asymmetric": .asymmetric]
                return try #require(known[name])
            }
            _ = try Registration(json: Array(vector.record.utf8), requiring: .init(requirements))
        }
    }

    @Test(
        "an upload is stored over other rows, or refused with the code of the list",
        arguments: try File.shared.get().store)
    func store(_ vector: Storing) throws {
        try Self.expect(vector.failure) {
            let change = try RegistrationChange(
                storing: vector.upload.stored(), over: vector.stored.map { try $0.stored() }, isProven: vector.isProven,
                allowsLowerSuite: vector.allowsLowerSuite)
            #expect(change.isWritten == vector.isWritten && change.removedKeyIDs.map(\.description) == vector.removed)
        }
    }

    @Test("a challenge is made, or refused with the code of the list", arguments: try File.shared.get().challenge)
    func challenge(_ vector: Challenge) throws {
        let file = try File.shared.get()
        try Self.expect(vector.failure) {
            let registration = try Registration(json: Array(vector.record.utf8), requiring: [])
            _ = try Sealer(topic: file.topic).challenge(registration, host: vector.host)
        }
    }

    @Test("the list has refusals of every code that the options, the keys and the records can have")
    func codes() throws {
        let file = try File.shared.get()
        #expect(
            Set(file.seal.compactMap(\.failure)) == [
                "invalidPayload", "invalidPlaceholder", "invalidOption", "notExposable", "notAuthenticated", "tooLarge",
                "suiteTooLow", "deviceMissing",
            ])
        #expect(
            Set(file.register.compactMap(\.failure)) == [
                "pskMissing", "notAsymmetric", "wrongKind", "malformed", "kidMismatch", "unsupportedKey", "invalidKey",
                "tooLarge",
            ])
        #expect(Set(file.store.compactMap(\.failure)) == ["conflict", "otherAccount", "suiteTooLow"])
        #expect(Set(file.challenge.compactMap(\.failure)) == ["tooLarge", "invalidOption"])
    }
}
