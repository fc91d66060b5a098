import PushCryptCore
import PushCryptExtension
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

/// Conformance/vectors/instructions-v1.json: messages that retract others, are quiet, add to the badge or have an avatar.
@Suite("instructions of the Python reference")
struct InstructionVectorTests {
    struct File: Decodable, Sendable {
        let vectors: [Vector]

        static let shared = Result { try Vectors.loadOwn("instructions-v1.json", as: File.self) }
    }

    struct Vector: Decodable, Sendable, CustomStringConvertible {
        let name: String
        /// nil for a message that opens.
        let failure: String?
        /// A JWK, and the pinned senders as a JWK set.
        let keyset: String
        let senders: String?
        let topic: String
        let at: Int64
        let payload: String
        let opened: Opened?

        var description: String { name }
    }

    struct Opened: Decodable, Equatable {
        let retract: [String]
        let quiet: Bool
        let badgeAdd: Int?
        /// URLs.
        let avatar: String?
        let attachments: [String]
        let proof: UInt8
    }

    @Test(
        "a message opens with its instructions, or is refused, as the vector says",
        arguments: Backends.pairs(with: try File.shared.get().vectors) { $0.name.hasPrefix("xwing") })
    func message(_ vector: Vector, _ named: NamedBackend) throws {
        let senders = try vector.senders.map { text in
            SenderTrust.pinned(try TrustedSenders(Keyset(json: Array(text.utf8))))
        }
        let opener = try Opener(
            topic: vector.topic,
            keyring: KeysetKeyring(Keyset(json: Array(vector.keyset.utf8), backend: named.backend)),
            senders: senders ?? .unsigned)
        switch opener.open(Array(vector.payload.utf8), at: UnixTime(vector.at)) {
        case .success(let push):
            #expect(vector.failure == nil)
            let opened = Opened(
                retract: push.retractedMessageIDs, quiet: push.isQuiet, badgeAdd: push.badgeIncrement,
                avatar: push.avatar?.url, attachments: push.attachments.map(\.url), proof: push.profile)
            #expect(opened == vector.opened)
        case .failure(let failure):
            #expect(failure.rawValue == vector.failure)
        }
    }

    @Test("the file has messages of sixteen modes, and both outcomes of each rule")
    func counts() throws {
        let vectors = try File.shared.get().vectors
        #expect(vectors.filter { $0.failure == nil }.count > 250)
        #expect(vectors.filter { $0.failure == "malformed" }.count > 100)
        #expect(Set(vectors.map { $0.name.prefix { $0 != ":" } }).count == 16)
        #expect(Set(vectors.compactMap(\.failure)) == ["malformed"])
        #expect(Set(vectors.compactMap(\.opened?.proof)) == [0, 1, 2, 3])
    }
}
