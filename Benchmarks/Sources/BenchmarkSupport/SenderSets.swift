package import PushCryptCore
import PushCryptPrimitives

/// Signed sets of a fresh sender key, for tests only.
package enum SenderSets {
    /// A publisher's private key, and what an app pins of it.
    package static func publisher() throws -> (key: KeyRecord, pins: SenderSetPins) {
        let key = try KeyRecord.generate(.publisher, backend: DefaultBackend.shared)
        let set = [UInt8](repeating: 1, count: SenderSetPublication.setByteCount)
        return (key, try SenderSetPins(publishers: [key.publicRecord(keepingPSK: false)], set: set, epoch: 0))
    }

    /// `count` publications of the set, with the sequence numbers 1, 2, …
    package static func documents(
        of sender: KeyRecord, _ pins: SenderSetPins, signedBy publisher: KeyRecord, count: Int
    ) throws -> [[UInt8]] {
        let lifecycle = KeyLifecycle(activatesAt: UnixTime(0))
        let keyset = try Keyset([Keyset.Entry(sender.publicRecord(keepingPSK: false), lifecycle)])
        let now = UnixTime.now
        return try (1...Int64(count)).map { sequence in
            let publication = try SenderSetPublication(
                set: pins.set, topics: [Topic(TestMessage.topic)], epoch: pins.epoch, sequence: sequence, issuedAt: now,
                validUntil: now + 86_400)
            return try SignedSenderSet.sign(keyset, publication, by: [publisher])
        }
    }
}
