/// Computes when each key stops sealing, from the order in which the keys seal.
extension KeyTimeline {
    /// Sets `retiresAt` of each key that isn't retired yet to the moment when the next key begins. Two keys never seal at
    /// once, also for readers that know only the published times. The last key gets none: no key would seal after it.
    mutating func schedule(at now: UnixTime, _ policy: RotationPolicy) {
        let order = keys.indices.filter { willSeal(keys[$0].lifecycle, at: now) }
            .sorted { keys[$0].rank < keys[$1].rank }
        for (index, next) in zip(order, order.dropFirst().map(Optional.some) + [nil]) {
            // In a file written by hand a key other than the primary can have times at which it still seals: it ends now.
            let end = next.flatMap { keys[$0].lifecycle.activatesAt }.map { max($0, now) }
            let longest = end.map { $0 + policy.opensAfterRetiringInSeconds }
            let isMoved = keys[index].lifecycle.retiresAt != end
            keys[index].lifecycle.retiresAt = end
            let expiresAt = keys[index].lifecycle.expiresAt
            keys[index].lifecycle.expiresAt = isMoved ? longest : longest.map { max($0, expiresAt ?? $0) }
        }
        setMissingExpiry(at: now, policy)
    }

    /// A file written by hand may lack `expiresAt` of a retired or revoked key: its overlap begins now.
    private mutating func setMissingExpiry(at now: UnixTime, _ policy: RotationPolicy) {
        for index in keys.indices {
            let lifecycle = keys[index].lifecycle
            guard lifecycle.destroyedAt == nil, lifecycle.expiresAt == nil,
                let end = lifecycle.revokedAt ?? lifecycle.retiresAt, end <= now
            else { continue }
            keys[index].lifecycle.expiresAt = now + policy.opensAfterRetiringInSeconds
        }
    }

    /// Retires every key that seals, for a key that begins to seal now. The order of `activatesAt` isn't enough if the clock
    /// stood still, or was behind the last change, since the previous key began.
    mutating func retireSealingKeys(at now: UnixTime, _ policy: RotationPolicy) {
        for index in keys.indices where keys[index].lifecycle.seals(at: now) {
            keys[index].lifecycle.retiresAt = now
            keys[index].lifecycle.expiresAt = now + policy.opensAfterRetiringInSeconds
        }
    }

    /// Applies a stricter policy to pending keys: they wait to be promoted, or stay published for longer.
    ///
    /// - Returns: the keys whose `activatesAt` changed.
    mutating func postponePending(
        at now: UnixTime, _ policy: RotationPolicy, after old: RotationPolicy
    ) -> [KeyID] {
        let isGatedNow = policy.requiredCoverage != nil && old.requiredCoverage == nil
        let isLonger = policy.publishLeadInSeconds > old.publishLeadInSeconds
        guard isGatedNow || isLonger else { return [] }
        return keys(in: .pending, at: now).compactMap { key in
            guard let activatesAt = key.lifecycle.activatesAt else { return nil }
            let earliest = key.lifecycle.createdAt.map { $0 + policy.publishLeadInSeconds } ?? activatesAt
            let later = isGatedNow ? nil : max(activatesAt, earliest)
            guard later != activatesAt else { return nil }
            change(key.kid) { lifecycle in
                lifecycle.activatesAt = later
                lifecycle.retiresAt = nil
                lifecycle.expiresAt = nil
            }
            return key.kid
        }
    }

    mutating func change(_ kid: KeyID, _ body: (inout KeyLifecycle) -> Void) {
        guard let index = keys.firstIndex(where: { $0.kid == kid }) else { return }
        body(&keys[index].lifecycle)
    }

    /// Whether the key seals now or later, by its own times.
    private func willSeal(_ lifecycle: KeyLifecycle, at now: UnixTime) -> Bool {
        guard lifecycle.activatesAt != nil, lifecycle.retiresAt.map({ $0 > now }) ?? true else { return false }
        return lifecycle.state(at: now).opens
    }
}
