package import PushCryptCore

/// What holds for every change of a keyset, whoever asks for it. Checked before each write.
package enum Invariants {
    /// - Parameters:
    ///   - old: the keyset as it was; nil for a new one.
    ///   - loses: whether the operator was told of a loss and accepted it.
    /// - Throws: `LifecycleError` with `invariantBroken`.
    package static func check(
        _ new: KeyTimeline, after old: KeyTimeline?, at now: UnixTime, loses: Bool
    ) throws(LifecycleError) {
        try requireDistinctIDs(new)
        try requireAKeyThatSeals(new, from: now)
        guard let old else { return }
        try requireTombstones(new, old)
        try requireStatesForward(new, old, at: now)
        if !loses { try requireOverlap(new, old, at: now) }
    }

    static func broken(_ reason: String) -> LifecycleError {
        LifecycleError(.invariantBroken, reason)
    }

    private static func requireDistinctIDs(_ timeline: KeyTimeline) throws(LifecycleError) {
        guard Set(timeline.keys.map(\.kid)).count == timeline.keys.count else {
            throw broken("an id stands for two keys")
        }
    }

    /// Now and at every later moment at which something changes.
    private static func requireAKeyThatSeals(_ timeline: KeyTimeline, from now: UnixTime) throws(LifecycleError) {
        let moments = timeline.keys.flatMap { key in
            [key.lifecycle.activatesAt, key.lifecycle.retiresAt, key.lifecycle.expiresAt].compactMap(\.self)
        }
        for moment in [now] + moments.filter({ $0 > now }) where timeline.primary(at: moment) == nil {
            throw broken("no key would seal at \(moment)")
        }
    }

    private static func requireTombstones(_ new: KeyTimeline, _ old: KeyTimeline) throws(LifecycleError) {
        for key in old.keys {
            guard let after = new.key(key.kid) else { throw broken("key \(key.kid) would be forgotten") }
            guard key.lifecycle.destroyedAt == nil || after == key else {
                throw broken("key \(key.kid) is destroyed and would change")
            }
            guard key.lifecycle.revokedAt == nil || after.lifecycle.revokedAt == key.lifecycle.revokedAt else {
                throw broken("key \(key.kid) is revoked and would come back")
            }
        }
    }

    private static func requireStatesForward(
        _ new: KeyTimeline, _ old: KeyTimeline, at now: UnixTime
    ) throws(LifecycleError) {
        for key in old.keys {
            guard let before = old.state(of: key.kid, at: now), let after = new.state(of: key.kid, at: now),
                before.rank > after.rank
            else { continue }
            throw broken("key \(key.kid) is \(before) and would be \(after) again")
        }
    }

    /// A key that opens now opens as long as it was to, and at least as long as a push can be on its way after it sealed
    /// for the last time.
    private static func requireOverlap(
        _ new: KeyTimeline, _ old: KeyTimeline, at now: UnixTime
    ) throws(LifecycleError) {
        let flight = RotationPolicy.longestFlightInSeconds + Freshness.toleranceInSeconds
        for key in old.keys where old.state(of: key.kid, at: now)?.opens == true {
            let wasPending = old.state(of: key.kid, at: now) == .pending
            guard let after = new.key(key.kid)?.lifecycle, after.destroyedAt == nil, after.revokedAt == nil else {
                throw broken("key \(key.kid) may be needed by a push on its way and would be gone")
            }
            guard let expiresAt = after.expiresAt else { continue }
            let lastSealed = wasPending ? nil : min(after.retiresAt ?? now, expiresAt)
            if let lastSealed, expiresAt < lastSealed + flight {
                throw broken("key \(key.kid) would expire while pushes sealed with it are on their way")
            }
            let old = key.lifecycle
            if let was = old.expiresAt, expiresAt < was, let retired = old.retiresAt, retired <= now {
                throw broken("key \(key.kid) would expire before its time, \(was)")
            }
        }
    }
}
