import PushCryptCore

/// A key that opens goes on opening for as long as a push that was sealed with it can be on its way.
extension Invariants {
    static func requireOverlap(
        _ new: KeyTimeline, _ old: KeyTimeline, at now: UnixTime, _ givenUp: Set<KeyID>
    ) throws(LifecycleError) {
        for key in old.keys where !givenUp.contains(key.kid) {
            guard let state = old.state(of: key.kid, at: now), state.opens else { continue }
            guard let after = new.key(key.kid)?.lifecycle, after.destroyedAt == nil,
                after.revokedAt == key.lifecycle.revokedAt
            else {
                throw broken("key \(key.kid) may be needed by a push on its way and would be gone")
            }
            let isAsBefore =
                after.retiresAt == key.lifecycle.retiresAt && after.expiresAt == key.lifecycle.expiresAt
            guard let expiresAt = after.expiresAt, !isAsBefore else { continue }
            if let was = key.lifecycle.expiresAt, let retired = key.lifecycle.retiresAt, retired <= now, expiresAt < was
            {
                throw broken("key \(key.kid) would expire before its time, \(was)")
            }
            let flight = RotationPolicy.longestFlightInSeconds + Freshness.toleranceInSeconds
            let lastSealed = lastSealed(key.lifecycle, state, after, now)
            guard expiresAt < lastSealed + flight else { continue }
            throw broken("key \(key.kid) would expire while pushes sealed with it are on their way")
        }
    }

    /// The moment from which the key surely seals no more. One that sealed until now did so whatever its new times say.
    private static func lastSealed(
        _ before: KeyLifecycle, _ state: KeyState, _ after: KeyLifecycle, _ now: UnixTime
    ) -> UnixTime {
        if state == .retiring { return min(before.retiresAt ?? now, now) }
        return max(after.retiresAt ?? after.expiresAt ?? now, now)
    }
}
