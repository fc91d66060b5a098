package import PushCryptCore

/// What holds for every change of a keyset, whoever asks for it. Checked before each write.
package enum Invariants {
    /// - Parameters:
    ///   - old: the keyset as it was; nil for a new one.
    ///   - givenUp: the keys that the operator withdrew or erased, told of what that loses. For all others nothing is
    ///     lost.
    /// - Throws: `LifecycleError` with `invariantBroken`.
    package static func check(
        _ new: KeyTimeline, after old: KeyTimeline?, at now: UnixTime, givingUp givenUp: Set<KeyID> = []
    ) throws(LifecycleError) {
        // A change of something else goes through, also where a file written by hand breaks a rule.
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

    static func broken(_ reason: String) -> LifecycleError {
        LifecycleError(.invariantBroken, reason)
    }

    static func requireDistinctIDs(_ timeline: KeyTimeline) throws(LifecycleError) {
        guard Set(timeline.keys.map(\.kid)).count == timeline.keys.count else {
            throw broken("an id stands for two keys")
        }
    }

    /// Times follow from others: a year of five digits would make a file that can't be read again.
    private static func requireWritableTimes(_ timeline: KeyTimeline) throws(LifecycleError) {
        for key in timeline.keys {
            for (name, time) in key.lifecycle.moments {
                guard let time, !UnixTime.rfc3339Range.contains(time) else { continue }
                throw broken("key \(key.kid): its \(name) would not be in the years 0000 to 9999, which files can hold")
            }
        }
    }

    /// Now and at every later moment at which something changes; by the keys' own times, so that readers of the published
    /// set, who know neither when keys were made nor when the set was written, find the same one.
    private static func requireOneKeyThatSeals(
        _ timeline: KeyTimeline, from now: UnixTime
    ) throws(LifecycleError) {
        let moments = timeline.keys.flatMap { $0.lifecycle.moments.compactMap(\.time) }
        for moment in [now] + moments.filter({ $0 > now }) {
            let sealing = timeline.keys.filter { $0.lifecycle.seals(at: moment) }
            if sealing.isEmpty { throw broken("no key would seal at \(moment)") }
            if sealing.count > 1 {
                throw broken("keys \(sealing[0].kid) and \(sealing[1].kid) would both seal at \(moment)")
            }
        }
    }

    private static func requireTombstones(_ new: KeyTimeline, _ old: KeyTimeline) throws(LifecycleError) {
        for key in old.keys {
            guard let after = new.key(key.kid) else { throw broken("key \(key.kid) would be forgotten") }
            guard key.lifecycle.destroyedAt == nil || after == key else {
                throw broken("key \(key.kid) is destroyed and would change")
            }
        }
    }

    /// A moment that has come stays, and none is set into the past.
    private static func requirePast(
        _ new: KeyTimeline, _ old: KeyTimeline, at now: UnixTime
    ) throws(LifecycleError) {
        for key in old.keys {
            guard let after = new.key(key.kid) else { continue }
            for (was, becomes) in zip(key.lifecycle.moments, after.lifecycle.moments) where was.time != becomes.time {
                if let time = was.time, time <= now {
                    throw broken("key \(key.kid): its \(was.name), \(time), has come and would change")
                }
                if let time = becomes.time, time < now {
                    throw broken("key \(key.kid): its \(was.name) would be set to \(time), which is past")
                }
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
}

extension KeyLifecycle {
    fileprivate var moments: [(name: String, time: UnixTime?)] {
        [
            ("createdAt", createdAt), ("activatesAt", activatesAt), ("retiresAt", retiresAt), ("expiresAt", expiresAt),
            ("revokedAt", revokedAt), ("destroyedAt", destroyedAt),
        ]
    }
}
