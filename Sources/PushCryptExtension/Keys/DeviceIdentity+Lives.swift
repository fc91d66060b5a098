public import PushCryptCore
import PushCryptPrimitives

extension DeviceIdentity {
    /// The backend has the record: it seals to this pair from now on. The pairs before it open for the overlap still.
    ///
    /// Call it when the upload was answered with success, and not before. If the app ends in between, upload the same
    /// record again at the next start: `isConfirmed` says so.
    ///
    /// - Throws: `DeviceKeyError` with `notFound`; `superseded` when a newer pair was confirmed since, which is the one to
    ///   upload then; `locked`.
    public func confirmRegistered(_ kid: KeyID) throws(DeviceKeyError) {
        try inTurn { lives, now throws(DeviceKeyError) in
            guard var life = lives.pairs.key(kid)?.lifecycle else {
                throw DeviceKeyError(.notFound, "the device has no key pair \(kid)")
            }
            guard life.retiresAt == nil, life.revokedAt == nil else {
                throw DeviceKeyError(.superseded, "key \(kid) was replaced or revoked: register the current one")
            }
            guard life.activatesAt == nil else { return }
            life.activatesAt = max(lives.pairs.effective(now), life.createdAt ?? now)
            try self.storage.update(kid, to: life, at: now)
            try self.endReplaced(now)
        }
    }

    /// Withdraws a key at once: what was sealed to it stays closed, also what is on its way.
    ///
    /// - Throws: `DeviceKeyError` with `notFound`, `locked`.
    public func revoke(_ kid: KeyID) throws(DeviceKeyError) {
        try inTurn { lives, now throws(DeviceKeyError) in
            guard var life = (lives.pairs.key(kid) ?? lives.adopted.key(kid))?.lifecycle else {
                throw DeviceKeyError(.notFound, "the device has no key \(kid)")
            }
            guard life.revokedAt == nil else { return }
            life.revokedAt = lives.pairs.effective(now)
            try self.storage.update(kid, to: life, at: now)
        }
    }

    /// Erases the keys that have expired or were revoked, unless the clock is more than 400 days after the last change: a
    /// device that woke up in the wrong year erases nothing.
    ///
    /// - Returns: what was erased.
    /// - Throws: `DeviceKeyError` with `locked`.
    @discardableResult
    public func prune() throws(DeviceKeyError) -> [KeyID] {
        try inTurn { lives, now throws(DeviceKeyError) in
            let ended = lives.ended(at: now)
            for kid in ended { try self.storage.remove(kid) }
            return ended
        }
    }

    /// Erases all keys, damaged ones too: for a user who signs out. Pushes that are still on their way to him stay closed.
    ///
    /// - Throws: `DeviceKeyError` with `locked`; some may be gone then, and another call erases the rest.
    public func eraseAll() throws(DeviceKeyError) {
        try inTurn { _, _ throws(DeviceKeyError) in
            for kid in try self.storage.keyIDs() { try self.storage.remove(kid) }
        }
    }

    /// Keeps a key that the backend derived for this device from a shared master (suite 4): a JWK with `device`, or a JWK
    /// set of several with their lives. A key that is there already gets the life that the set gives it.
    ///
    /// - Parameter jwk: UTF-8 JSON, a secret. Wipe it afterwards.
    /// - Throws: `DeviceKeyError` with `unsuitable` for any other key, a master above all: a device that held one could
    ///   open what others are sent; `conflict`, `locked`.
    public func adopt(jwk: [UInt8]) throws(DeviceKeyError) {
        let keyset: Keyset
        do {
            keyset = try Keyset(json: jwk)
        } catch {
            throw DeviceKeyError(.unsuitable, "not a device key: \(error)")
        }
        guard keyset.entries.allSatisfy(\.record.isDeviceKey) else {
            throw DeviceKeyError(.unsuitable, "not a device key: a device holds no master and no bare shared key")
        }
        try inTurn { lives, now throws(DeviceKeyError) in
            for entry in keyset.entries {
                try self.storage.add(try DeviceKey(entry.record, entry.lifecycle, writtenAt: now))
                guard let kept = lives.adopted.key(entry.record.kid), kept.lifecycle != entry.lifecycle else {
                    continue
                }
                try self.storage.update(kept.kid, to: entry.lifecycle, at: now)
            }
        }
    }
}
