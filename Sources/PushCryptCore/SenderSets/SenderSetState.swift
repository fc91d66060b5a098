/// What a device remembers of the signed sets that it has accepted in an epoch.
package struct SenderSetState: Hashable, Sendable {
    package let epoch: Int64
    /// The `seq` of the accepted set.
    package let sequence: Int64
    /// SHA-256 of the accepted set's payload, 32 bytes.
    package let digest: [UInt8]
    /// The RFC 7638 thumbprints, 32 bytes each, of all keys that an accepted set of the epoch revoked. No later set removes
    /// one, and the device's clock doesn't matter.
    package let revoked: Set<[UInt8]>

    /// The limit of ``revoked``.
    package static let maximumRevokedCount = 4_096

    package init(epoch: Int64, sequence: Int64, digest: [UInt8], revoked: Set<[UInt8]>) {
        self.epoch = epoch
        self.sequence = sequence
        self.digest = digest
        self.revoked = revoked
    }

    /// Decides whether a device accepts a verified set.
    ///
    /// ```
    /// accepted iff  set = the pinned one, topics contain the app's, epoch = the pinned one,
    ///               seq > the stored one, or seq and digest are the stored ones,
    ///               max(now, issuedAt of the stored set) < validUntil
    /// revoked  =    the stored ones and those of the set
    /// ```
    /// The state of a lower epoch counts as no state, so that not even a `seq` of 2^53 - 1 outlives an app update.
    ///
    /// - Parameters:
    ///   - set: verified with the publishers of `pins`.
    ///   - stored: nil if the device has accepted no set.
    ///   - storedIssuedAt: the `issuedAt` of the stored set; nil if it can't be used with these pins.
    ///   - now: the device's clock. `issuedAt` of the set may be later.
    /// - Throws: `KeyError` with `otherSet`, `otherTopic`, `otherEpoch`, `rolledBack`, `conflict`, `expired`, `tooLarge`.
    package init(
        accepting set: SignedSenderSet, pins: SenderSetPins, topic: Topic, stored: SenderSetState?,
        storedIssuedAt: UnixTime? = nil, at now: UnixTime
    ) throws {
        let new = set.publication
        guard new.set == pins.set else {
            throw KeyError(
                .otherSet, "the signed set has the id \(Base64URL.encode(new.set)), which isn't the pinned one")
        }
        guard new.topics.contains(topic) else {
            throw KeyError(.otherTopic, "the signed set is not for the app \(topic): name it in the set's topics")
        }
        guard new.epoch == pins.epoch else {
            throw KeyError(.otherEpoch, "the signed set has epoch \(new.epoch), but the app pins epoch \(pins.epoch)")
        }
        if let stored, stored.epoch > pins.epoch {
            throw KeyError(
                .rolledBack, "epoch \(stored.epoch) was accepted, but this version of the app pins epoch \(pins.epoch)")
        }
        let known = stored.flatMap { $0.epoch == pins.epoch ? $0 : nil }
        if let known {
            guard new.sequence >= known.sequence else {
                throw KeyError(
                    .rolledBack, "the signed set is number \(new.sequence), older than the accepted \(known.sequence)")
            }
            guard new.sequence > known.sequence || set.digest == known.digest else {
                throw KeyError(.conflict, "another signed set was accepted under number \(new.sequence)")
            }
        }
        // An attacker who sets the clock back can't make the device accept a set that expired before the stored one was issued.
        let earliest = known == nil ? nil : storedIssuedAt
        guard max(now, earliest ?? now) < new.validUntil else {
            throw KeyError(.expired, "the signed set was valid until \(new.validUntil): publish a new one")
        }
        let revoked = set.revoked.union(known?.revoked ?? [])
        guard revoked.count <= Self.maximumRevokedCount else {
            throw KeyError(
                .tooLarge,
                "more than \(Self.maximumRevokedCount) keys were revoked in epoch \(pins.epoch): raise it with an app update"
            )
        }
        try set.keyset.requireNoCollision(with: revoked)
        self.init(epoch: new.epoch, sequence: new.sequence, digest: set.digest, revoked: revoked)
    }
}

extension Keyset {
    /// The RFC 7638 thumbprints, 32 bytes each, of the keys with a `revokedAt`, even one in the future.
    func revokedThumbprints() throws -> Set<[UInt8]> {
        Set(try entries.filter { $0.lifecycle.revokedAt != nil }.map { try $0.record.thumbprint() })
    }

    /// A key id is 64 bits of a thumbprint, so an attacker can make a key with the id of a revoked key.
    ///
    /// - Parameter revoked: RFC 7638 thumbprints, 32 bytes each.
    /// - Throws: `KeyError` with `conflict` if a key has the id of another key that was revoked.
    fileprivate func requireNoCollision(with revoked: Set<[UInt8]>) throws {
        for record in entries.map(\.record) {
            let own = try record.thumbprint()
            let id = own.prefix(KeyID.byteCount)
            guard !revoked.contains(where: { $0 != own && $0.prefix(KeyID.byteCount) == id }) else {
                throw KeyError(
                    .conflict, "key \(record.kid) has the id of another sender key, which was revoked: make another key"
                )
            }
        }
    }
}
