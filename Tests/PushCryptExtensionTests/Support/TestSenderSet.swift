import PushCryptExtension
import PushCryptPrimitives

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
