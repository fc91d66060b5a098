import PushCryptCore

/// The order in which keys seal, one after the other.
extension KeyTimeline {
    /// Gives each key that isn't retired yet its end: the moment when the next one begins. No two keys ever seal at once,
    /// also for readers that know only the published times. The last one gets none: after it no key would seal.
    mutating func schedule(at now: UnixTime, _ policy: RotationPolicy) {
        let order = keys.indices.filter { willSeal(keys[$0].lifecycle, at: now) }
            .sorted { keys[$0].rank < keys[$1].rank }
        for (index, next) in zip(order, order.dropFirst().map(Optional.some) + [nil]) {
            // One that was to seal on behind the primary's back, as files written by hand can say, ends now.
            let end = next.flatMap { keys[$0].lifecycle.activatesAt }.map { max($0, now) }
            let longest = end.map { $0 + policy.opensAfterRetiringInSeconds }
            let isMoved = keys[index].lifecycle.retiresAt != end
            keys[index].lifecycle.retiresAt = end
            let expiresAt = keys[index].lifecycle.expiresAt
            keys[index].lifecycle.expiresAt = isMoved ? longest : longest.map { max($0, expiresAt ?? $0) }
        }
        endWhatIsOver(at: now, policy)
    }

    /// Files written by hand leave out when a key that seals no more is over: its overlap counts from now.
    private mutating func endWhatIsOver(at now: UnixTime, _ policy: RotationPolicy) {
        for index in keys.indices {
            let lifecycle = keys[index].lifecycle
            guard lifecycle.destroyedAt == nil, lifecycle.expiresAt == nil,
                let end = lifecycle.revokedAt ?? lifecycle.retiresAt, end <= now
            else { continue }
            keys[index].lifecycle.expiresAt = now + policy.opensAfterRetiringInSeconds
        }
    }

    /// What seals stops now, for a key that begins now. The order of their times doesn't say so where the clock has stood
    /// still, or was behind the last change, since the one before began.
    mutating func retireWhatSeals(at now: UnixTime, _ policy: RotationPolicy) {
        for index in keys.indices where keys[index].lifecycle.seals(at: now) {
            keys[index].lifecycle.retiresAt = now
            keys[index].lifecycle.expiresAt = now + policy.opensAfterRetiringInSeconds
        }
    }

    /// Pending keys follow a policy that asks for more than the one they were added under: they wait to be promoted, or
    /// stay published for longer.
    ///
    /// - Returns: those whose time changed.
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
            change(key.kid) { ($0.activatesAt, $0.retiresAt, $0.expiresAt) = (later, nil, nil) }
            return key.kid
        }
    }

    mutating func change(_ kid: KeyID, _ body: (inout KeyLifecycle) -> Void) {
        guard let index = keys.firstIndex(where: { $0.kid == kid }) else { return }
        body(&keys[index].lifecycle)
    }

    /// Whether the key seals now or will, as far as its own times say.
    private func willSeal(_ lifecycle: KeyLifecycle, at now: UnixTime) -> Bool {
        guard lifecycle.activatesAt != nil, lifecycle.retiresAt.map({ $0 > now }) ?? true else { return false }
        return lifecycle.state(at: now).opens
    }
}
