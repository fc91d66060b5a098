import PushCryptCore
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptSender

/// Conformance/vectors/device-sets-v1.json: records with day keys, what a reader refuses, and changes of them.
@Suite("records with day keys, of the Python package") struct DeviceSetVectorTests {
    struct File: Decodable, Sendable {
        let vectors: [Record]
        let campaigns: [Campaign]
        let changes: [Change]

        static let shared = Result { try Vectors.loadOwn("device-sets-v1.json", as: File.self) }
    }

    /// A time, and the day key that is used; nil for the last-resort key.
    struct Use: Decodable, Sendable {
        let time: UnixTime
        let kid: String?

        init(from decoder: any Decoder) throws {
            var container = try decoder.unkeyedContainer()
            time = UnixTime(try container.decode(Int64.self))
            kid = try container.decode(String?.self)
        }
    }

    struct Record: Decodable, Sendable, CustomStringConvertible {
        let name: String
        let suite: Int
        let text: String
        /// Of reading, and of an upload, whose keys are all checked.
        let failure: String?
        let failureOfUpload: String?
        let flight: Int64?
        let at: [Use]
        /// The times at which the key of the day can't be used.
        let failsAt: [Int64]

        var description: String { name }
    }

    struct Campaign: Decodable, Sendable, CustomStringConvertible {
        let name: String
        let suite: Int
        let campaign: String
        let id: String
        let at: [Use]
        let text: String

        var description: String { name }
    }

    struct Change: Decodable, Sendable, CustomStringConvertible {
        let name: String
        let suite: Int
        let stored: String
        let upload: String
        let failure: String?
        let isWritten: Bool?

        var description: String { name }
    }

    private static func seal(
        _ text: String, at time: UnixTime, _ backend: any CryptoBackend, campaign: String? = nil
    ) throws -> (push: SealedPush, kid: String) {
        let sealer = try Sealer(topic: "com.example.app", clock: { time })
        let recipient = try Recipient(jwk: Array(text.utf8), backend: backend)
        let push = try sealer.seal(#"{"aps":{"alert":"Zoë"}}"#, to: recipient) { $0.campaign = campaign }
        return (push, try OuterPayload(JSONText(push.bytes)).kid.description)
    }

    @Test(
        "A record with day keys is read, or refused with the vector's code, and each push is sealed to the key of its time",
        arguments: Backends.pairs(with: try File.shared.get().vectors) { $0.text.contains("pushcrypt-3") })
    func record(_ vector: Record, _ named: NamedBackend) throws {
        let json = Array(vector.text.utf8)
        do {
            let recipient = try Recipient(jwk: json, backend: named.backend)
            #expect(vector.failure == nil)
            #expect(recipient.longestLifetime == .seconds(vector.flight ?? 0))
        } catch let error as KeyError {
            #expect(error.code.description == vector.failure)
        }
        do {
            _ = try Registration(json: json, requiring: [], backend: named.backend)
            #expect(vector.failureOfUpload == nil)
        } catch { #expect(error.code.description == vector.failureOfUpload) }
        for use in vector.at where vector.failure == nil {
            let (push, kid) = try Self.seal(vector.text, at: use.time, named.backend)
            #expect(push.usesLastResortKey == (use.kid == nil))
            #expect(use.kid.map { $0 == kid } ?? true)
        }
        for time in vector.failsAt {
            #expect(throws: SenderError.self) { try Self.seal(vector.text, at: UnixTime(time), named.backend) }
        }
    }

    @Test(
        "A campaign has the vector's id with every key of a record",
        arguments: Backends.pairs(with: try File.shared.get().campaigns) { $0.suite == 3 })
    func campaign(_ vector: Campaign, _ named: NamedBackend) throws {
        for use in vector.at {
            let (push, kid) = try Self.seal(vector.text, at: use.time, named.backend, campaign: vector.campaign)
            #expect(push.id == vector.id && use.kid.map { $0 == kid } ?? true)
        }
    }

    @Test(
        "An upload changes a stored record, or is refused with the vector's code",
        arguments: Backends.pairs(with: try File.shared.get().changes) {
            ($0.stored + $0.upload).contains("pushcrypt-3")
        })
    func change(_ vector: Change, _ named: NamedBackend) throws {
        func row(_ text: String) throws -> StoredRegistration {
            let registration = try Registration(json: text.utf8, requiring: [], backend: named.backend)
            return StoredRegistration(registration, account: "a", deviceToken: "t")
        }
        do {
            let change = try RegistrationChange(
                storing: row(vector.upload), over: [row(vector.stored)], isProven: false)
            #expect(vector.failure == nil && change.isWritten == vector.isWritten)
        } catch let error as SenderError { #expect(error.code.description == vector.failure) }
    }
}
