import PushCryptExtension
import PushCryptPrimitives
import PushCryptTestSupport

/// The content of Conformance/vectors/pushcrypt-v1.json, which the Python reference generates.
struct ReferenceVectors: Decodable {
    /// A payload that opens, with id, iat and exp, or one that is refused, with failure and topic.
    struct Vector: Decodable, Sendable, CustomStringConvertible {
        let name: String
        let key: String
        let trust: [String]?
        let at: Int64
        let payload: String
        let id: String?
        let iat: Int64?
        let exp: Int64?
        let failure: String?
        let topic: String?
        var description: String { name }
    }

    let topic: String
    let inner: String
    let keys: [String: [String: String]]
    let opened: [Vector]
    let refused: [Vector]

    static let shared: ReferenceVectors = {
        do {
            return try Vectors.loadOwn("pushcrypt-v1.json", as: ReferenceVectors.self)
        } catch {
            preconditionFailure("pushcrypt-v1.json: \(error)")
        }
    }()

    func jwk(_ name: String) -> [UInt8] {
        guard let record = keys[name] else { preconditionFailure("no key is named \(name)") }
        return Self.json(record)
    }

    /// The record without its private half `d`; for a shared key, which has none, the whole record.
    func publicJWK(_ name: String) -> [UInt8] {
        guard let record = keys[name] else { preconditionFailure("no key is named \(name)") }
        return Self.json(record.filter { $0.key != "d" })
    }

    private static func json(_ record: [String: String]) -> [UInt8] {
        let members = record.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\"\($0.value)\"" }
        return Array("{\(members.joined(separator: ","))}".utf8)
    }
}

/// Keys by their names in the vectors.
enum TestKeys {
    static func id(_ name: String) throws -> KeyID { try keyset(name).keyIDs[0] }

    static func recipient(_ name: String) throws -> Recipient {
        try Recipient(jwk: ReferenceVectors.shared.publicJWK(name))
    }

    static func sender(_ name: String) throws -> SenderKey { try SenderKey(jwk: ReferenceVectors.shared.jwk(name)) }

    /// - Parameter lifecycle: nil for a key that always opens.
    static func keyset(_ name: String, _ lifecycle: KeyLifecycle? = nil) throws -> Keyset {
        let keyset = try Keyset(json: ReferenceVectors.shared.jwk(name))
        guard let lifecycle else { return keyset }
        return try Keyset([Keyset.Entry(keyset.entries[0].record, lifecycle)])
    }

    static func trusted(_ names: [String], _ lifecycle: KeyLifecycle = .always) throws -> TrustedSenders {
        let entries = try names.map { name in
            Keyset.Entry(try Keyset(json: ReferenceVectors.shared.publicJWK(name)).entries[0].record, lifecycle)
        }
        return try TrustedSenders(Keyset(entries))
    }
}

/// A publisher of sets of sender keys, whose key is made from a seed.
struct TestPublisher {
    let record: KeyRecord
    static let first = TestPublisher(1)
    static let next = TestPublisher(2)
    static let stranger = TestPublisher(3)

    init(_ seed: UInt8) {
        do {
            let backend = DefaultBackend.shared
            let key = try backend.signingKey([UInt8](repeating: seed, count: 32).bytes)
            record = try KeyRecord(.publisher(publicKey: key.publicKey, privateKey: key), backend: backend)
        } catch {
            preconditionFailure("\(error)")
        }
    }

    /// A publisher with the key of the named sender, which the protocol forbids.
    init(sender name: String) throws {
        let sender = try TestKeys.keyset(name).entries[0].record
        guard case .sender(let publicKey, let privateKey) = sender.material else { preconditionFailure(name) }
        record = try KeyRecord(.publisher(publicKey: publicKey, privateKey: privateKey), backend: DefaultBackend.shared)
    }
}

/// A set of sender keys that a publisher signs.
struct TestSenderSet {
    static let id = [UInt8](repeating: 7, count: 16)
    /// The file in which `SenderPins` keeps the set.
    static let file = "sender-set-BwcHBwcHBwcHBwcHBwcHBw.json"
    static let day: Int64 = 86_400
    static let both: [(String, KeyLifecycle)] = [("sender", .always), ("other sender", .always)]
    static let other = [both[1]]
    var keys = [both[0]]
    var sequence: Int64 = 1
    var epoch: Int64 = 1
    var id = Self.id
    var topics = [TestPush.topic]
    var issuedAt = TestPush.now
    var validForDays: Int64 = 60
    var validUntil: UnixTime { issuedAt + validForDays * Self.day }

    private func keyset() throws -> Keyset {
        let entries = try keys.map { Keyset.Entry(try TestKeys.keyset($0).entries[0].record, $1) }
        return try Keyset(entries, sequence: sequence).publicKeyset(keepingPSK: false)
    }

    func document(by publishers: TestPublisher...) throws -> [UInt8] {
        let publication = try SenderSetPublication(
            set: id, topics: topics.map { try Topic($0) }, epoch: epoch, sequence: sequence, issuedAt: issuedAt,
            validUntil: validUntil)
        let signers = publishers.isEmpty ? [.first] : publishers
        return try SignedSenderSet.sign(keyset(), publication, by: signers.map(\.record))
    }

    /// A document with one key, good or not, as someone can sign it who has the first publisher's key.
    func document(listing jwk: [UInt8]) throws -> [UInt8] {
        let kid = try jwk.member("kid")
        let payload = """
            {"keys":[\(jwk.text)],"pushcrypt":{"seq":\(sequence),"set":"\(Base64URL.encode(id))","epoch":\(epoch),
            "topics":["\(TestPush.topic)"],"issuedAt":"\(issuedAt)","validUntil":"\(validUntil)",
            "keys":{"\(kid)":{"activatesAt":"\(UnixTime(0))"}}}}
            """
        return try Self.document(payload: Array(payload.utf8))
    }

    /// A document with any payload, which the first publisher has signed.
    static func document(payload: [UInt8]) throws -> [UInt8] {
        let publisher = TestPublisher.first.record
        guard case .publisher(_, let key?) = publisher.material else { preconditionFailure("no private key") }
        let header = #"{"alg":"Ed25519","kid":"\#(publisher.kid)","typ":"pushcrypt-senders+jws"}"#
        let (protected, content) = (Base64URL.encode(Array(header.utf8)), Base64URL.encode(payload))
        let signature = try key.signature(for: Array("\(protected).\(content)".utf8).bytes)
        let entry = #"{"protected":"\#(protected)","signature":"\#(Base64URL.encode(signature))"}"#
        return Array(#"{"payload":"\#(content)","signatures":[\#(entry)]}"#.utf8)
    }

    /// The same set as it is published without a signature.
    func unsigned() throws -> [UInt8] { try keyset().jwkSet(withHistory: false) }
}

extension SenderSetPins {
    static func test(
        _ publishers: [TestPublisher] = [.first, .next], set: [UInt8] = TestSenderSet.id, epoch: Int64 = 1
    ) throws -> SenderSetPins {
        try SenderSetPins(
            publishers: publishers.map { $0.record.publicRecord(keepingPSK: false) }, set: set, epoch: epoch)
    }
}

extension KeyLifecycle {
    static let always = KeyLifecycle(activatesAt: UnixTime(0))

    static func revoked(at time: UnixTime) -> KeyLifecycle { KeyLifecycle(activatesAt: UnixTime(0), revokedAt: time) }
}
