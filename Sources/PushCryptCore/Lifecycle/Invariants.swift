/// The invariants of a keyset's timestamps. Every change is checked before it is written, below all callers.
package enum Invariants {
    /// - Parameters:
    ///   - old: the keyset before the change; nil for a new one.
    ///   - givenUp: the keys that an operator revokes or erases. All other keys must continue to open.
    /// - Throws: `LifecycleError` with `invariantBroken`.
    package static func check(
        _ new: KeyTimeline, after old: KeyTimeline?, at now: UnixTime, givingUp givenUp: Set<KeyID> = []
    ) throws(LifecycleError) {
        // Other changes are allowed even if a file written by hand violates an invariant.
        guard new.keys != old?.keys else { return }
        try requireDistinctIDs(new)
        try requireWritableTimes(new)
        try requireOneKeyThatSeals(new, from: now)
        guard let old else { return }
        try requireTombstones(new, old)
        try requirePast(new, old, at: now)
        try requireStatesForward(new, old, at: now)
        try requireOverlap(new, old, at: now, givenUp)
    }

    private static func require(_ isKept: Bool, _ reason: @autoclosure () -> String) throws(LifecycleError) {
        guard isKept else { throw LifecycleError(.invariantBroken, reason()) }
    }

    private static func requireDistinctIDs(_ timeline: KeyTimeline) throws(LifecycleError) {
        try require(Set(timeline.keys.map(\.kid)).count == timeline.keys.count, "two keys have the same id")
    }

    /// A file with a year of five digits can't be read. The times are computed from others, so they can get one.
    private static func requireWritableTimes(_ timeline: KeyTimeline) throws(LifecycleError) {
        for key in timeline.keys {
            for case (let name, let time?) in key.lifecycle.moments {
                try require(
                    UnixTime.rfc3339Range.contains(time),
                    "key \(key.kid): its \(name) would be outside of the years 0000 to 9999, which files can contain")
            }
        }
    }

    /// Checks now and every later moment at which a state changes. Uses only times that the published set contains, so that
    /// its readers find the same key.
    private static func requireOneKeyThatSeals(_ timeline: KeyTimeline, from now: UnixTime) throws(LifecycleError) {
        let moments = timeline.keys.flatMap(\.lifecycle.knownTimes)
        for moment in [now] + moments.filter({ $0 > now }) {
            let sealing = timeline.keys.filter { $0.lifecycle.seals(at: moment) }
            try require(!sealing.isEmpty, "no key would seal at \(moment)")
            try require(sealing.count == 1, "keys \(sealing[0].kid) and \(sealing[1].kid) would both seal at \(moment)")
        }
    }

    private static func requireTombstones(_ new: KeyTimeline, _ old: KeyTimeline) throws(LifecycleError) {
        for key in old.keys {
            let after = new.key(key.kid)
            try require(after != nil, "key \(key.kid) would be missing")
            try require(
                key.lifecycle.destroyedAt == nil || after == key, "key \(key.kid) is destroyed and would change")
        }
    }

    /// A time that has passed doesn't change, and no time is set to the past.
    private static func requirePast(_ new: KeyTimeline, _ old: KeyTimeline, at now: UnixTime) throws(LifecycleError) {
        for key in old.keys {
            guard let after = new.key(key.kid) else { continue }
            for (was, becomes) in zip(key.lifecycle.moments, after.lifecycle.moments) where was.time != becomes.time {
                if let time = was.time {
                    try require(time > now, "key \(key.kid): its \(was.name), \(time), has passed and would change")
                }
                if let time = becomes.time {
                    try require(
                        time >= now, "key \(key.kid): its \(was.name) would be set to \(time), which is in the past")
                }
            }
        }
    }

    private static func requireStatesForward(
        _ new: KeyTimeline, _ old: KeyTimeline, at now: UnixTime
    ) throws(LifecycleError) {
        for key in old.keys {
            guard let before = old.state(of: key.kid, at: now), let after = new.state(of: key.kid, at: now)
            else { continue }
            try require(before.rank <= after.rank, "key \(key.kid) is \(before) and would be \(after) again")
        }
    }
}

/// A key continues to open for as long as a push that was sealed with it can be in flight.
extension Invariants {
    private static let flight = RotationPolicy.longestFlightInSeconds + Freshness.toleranceInSeconds

    private static func requireOverlap(
        _ new: KeyTimeline, _ old: KeyTimeline, at now: UnixTime, _ givenUp: Set<KeyID>
    ) throws(LifecycleError) {
        for key in old.keys where !givenUp.contains(key.kid) {
            guard let state = old.state(of: key.kid, at: now), state.opens else { continue }
            let before = key.lifecycle
            guard let after = new.key(key.kid)?.lifecycle else {
                throw LifecycleError(.invariantBroken, "key \(key.kid) would be missing")
            }
            try require(
                after.destroyedAt == nil && after.revokedAt == before.revokedAt,
                "a push on its way may need key \(key.kid), which would no longer open it")
            let isAsBefore = after.retiresAt == before.retiresAt && after.expiresAt == before.expiresAt
            guard let expiresAt = after.expiresAt, !isAsBefore else { continue }
            if let was = before.expiresAt, let retired = before.retiresAt, retired <= now {
                try require(expiresAt >= was, "key \(key.kid) would expire before its time, \(was)")
            }
            try require(
                expiresAt >= lastSealed(before, state, after, now) + flight,
                "key \(key.kid) would expire while pushes sealed with it are on their way")
        }
    }

    /// The last moment at which the key can have sealed. A key that seals now counts as sealing now, even if its new times
    /// are earlier.
    private static func lastSealed(
        _ before: KeyLifecycle, _ state: KeyState, _ after: KeyLifecycle, _ now: UnixTime
    ) -> UnixTime {
        if state == .retiring { return min(before.retiresAt ?? now, now) }
        return max(after.retiresAt ?? after.expiresAt ?? now, now)
    }
}

/// The invariants of a keyset at any time, without a change. A file that was written by hand may violate them.
extension Invariants {
    /// - Throws: `LifecycleError` with `invariantBroken`.
    package static func check(standing timeline: KeyTimeline, at time: UnixTime) throws(LifecycleError) {
        try requireDistinctIDs(timeline)
        let now = timeline.effective(time)
        let moments = timeline.keys.map(\.lifecycle).flatMap { [$0.activatesAt, $0.retiresAt, $0.expiresAt] }
        for moment in [now] + moments.compactMap(\.self).filter({ $0 > now }).sorted() {
            try require(timeline.primary(at: moment) != nil, "no key seals at \(moment)")
        }
        for key in timeline.keys {
            if let updatedAt = timeline.updatedAt { try requirePast(key, updatedAt) }
            try requireOverlap(key)
        }
    }

    /// No past event is later than the last change.
    private static func requirePast(_ key: KeyTimeline.Key, _ updatedAt: UnixTime) throws(LifecycleError) {
        let (created, revoked) = (key.lifecycle.createdAt, key.lifecycle.revokedAt)
        let moments = [("created", created), ("revoked", revoked), ("destroyed", key.lifecycle.destroyedAt)]
        for case (let what, let moment?) in moments {
            try require(
                moment <= updatedAt, "key \(key.kid) was \(what) at \(moment), after the last change at \(updatedAt)")
        }
    }

    /// A retired key opens for at least as long as a push that was sealed with it can be in flight.
    private static func requireOverlap(_ key: KeyTimeline.Key) throws(LifecycleError) {
        guard let retiresAt = key.lifecycle.retiresAt, let expiresAt = key.lifecycle.expiresAt,
            key.lifecycle.revokedAt == nil, key.lifecycle.destroyedAt == nil
        else { return }
        try require(
            expiresAt >= retiresAt + flight,
            "key \(key.kid) retires at \(retiresAt) and expires at \(expiresAt), while pushes are on their way")
    }
}
