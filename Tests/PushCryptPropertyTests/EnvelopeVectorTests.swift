import PushCryptCore
import PushCryptExtension
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

/// Conformance/vectors/envelopes-v1.json: every suite and mode, and every field changed in every way.
@Suite("envelopes of the Python reference")
struct EnvelopeVectorTests {
    struct Envelopes: Decodable, Sendable {
        let inner: String
        let sets: [String]
        let vectors: [Envelope]

        static let shared = Result { try Vectors.loadOwn("envelopes-v1.json", as: Envelopes.self) }

        func keyset(_ index: Int, _ backend: any CryptoBackend) throws -> Keyset {
            try Keyset(json: Array(sets[index].utf8), backend: backend)
        }
    }

    struct Envelope: Decodable, Sendable, CustomStringConvertible {
        let name: String
        /// nil for an envelope that opens.
        let failure: String?
        /// The recipient's keys and the pinned senders: indexes into `sets`.
        let keyset: Int
        let senders: Int?
        let topic: String
        let at: Int64
        let payload: String

        var description: String { failure.map { "\(name): \($0)" } ?? name }
    }

    @Test(
        "An envelope opens, or is refused with the class that the vector names",
        arguments: Backends.pairs(with: try Envelopes.shared.get().vectors) { $0.name.hasPrefix("xwing") })
    func envelope(_ vector: Envelope, _ named: NamedBackend) throws {
        let vectors = try Envelopes.shared.get()
        let senders = try vector.senders.map { index in
            SenderTrust.pinned(try TrustedSenders(vectors.keyset(index, named.backend)))
        }
        let opener = try Opener(
            topic: vector.topic, keyring: KeysetKeyring(vectors.keyset(vector.keyset, named.backend)),
            senders: senders ?? .unsigned)
        switch opener.open(Array(vector.payload.utf8), at: UnixTime(vector.at)) {
        case .success(let push):
            #expect(vector.failure == nil)
            #expect(String(decoding: push.payload, as: UTF8.self) == vectors.inner)
        case .failure(let failure):
            #expect(failure.rawValue == vector.failure)
        }
    }

    @Test("The file has envelopes of sixteen modes, with every class that an envelope can fail with")
    func counts() throws {
        let vectors = try Envelopes.shared.get().vectors
        #expect(vectors.count > 1_000)
        #expect(vectors.filter { $0.failure == nil }.count > 50)
        let modes = Set(vectors.map { $0.name.prefix { $0 != ":" } })
        #expect(modes.count == 16)
        #expect(vectors.filter { $0.name.contains("enc has a zero share") }.count == 32)
        let classes: Set<String> = [
            "notSealed", "malformed", "unsupportedVersion", "unknownKey", "keyExpired", "keyRevoked", "undecryptable",
            "expired", "notYetValid",
        ]
        #expect(Set(vectors.compactMap(\.failure)) == classes)
    }
}
