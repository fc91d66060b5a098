import PushCryptCore
import PushCryptKeysets
import PushCryptKeystore
import PushCryptPrimitives

/// An app that fetches a signed set, with the library's own verification and acceptance.
final class LifeApp {
    let epoch: Int64
    let pins: SenderSetPins
    private(set) var current: SignedSenderSet?
    private(set) var document: ServedDocument?
    private var state: SenderSetState?
    /// The last document, which is verified only once.
    private var last: (document: [UInt8], set: SignedSenderSet?) = ([], nil)
    /// Whether all that showed the accepted set was lost or replaced together: a documented limit.
    var isBeyondLimit = false

    static let topic = try! Topic("com.example.app")

    init(_ id: KeysetID, _ epoch: Int64, pinning publishers: [KeyRecord]) throws {
        self.epoch = epoch
        let keys = publishers.map { $0.publicRecord(keepingPSK: false) }
        pins = try SenderSetPins(publishers: keys, set: id.bytes, epoch: epoch)
    }

    /// - Returns: whether the served set was accepted.
    @discardableResult
    func fetch(_ served: [UInt8]?, at time: UnixTime) -> Bool {
        guard let served else { return false }
        if served != last.document { last = (served, try? SignedSenderSet.verify(served, publishers: pins.publishers)) }
        guard let new = last.set,
            let accepted = try? SenderSetState(
                accepting: new, pins: pins, topic: Self.topic, stored: state,
                storedIssuedAt: current?.publication.issuedAt, at: time)
        else { return false }
        (current, state, document) = (new, accepted, ServedDocument(served))
        return true
    }

    func verifies(_ kid: KeyID, at time: UnixTime) -> Bool {
        guard let current, max(time, current.publication.issuedAt) < current.publication.validUntil,
            let entry = try? current.keyset.openingEntry(kid, at: time)
        else { return false }
        return (try? !isDead(entry.record)) ?? false
    }

    /// Whether the accepted set lists a key without a revocation that an earlier one revoked.
    var hasDeadKey: Bool {
        current?.keyset.keyIDs.contains { kid in
            guard let entry = current?.keyset.entry(kid), entry.lifecycle.revokedAt == nil else { return false }
            return (try? isDead(entry.record)) ?? true
        } ?? false
    }

    private func isDead(_ record: KeyRecord) throws -> Bool {
        try state?.revoked.contains(record.thumbprint()) ?? false
    }
}
