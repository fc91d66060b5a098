package import PushCryptCore

/// What holds for the lives of a keyset's keys as they stand, whatever made them so. A file that was written by hand may
/// break it.
extension Invariants {
    /// - Throws: `LifecycleError` with `invariantBroken`.
    package static func check(standing timeline: KeyTimeline, at time: UnixTime) throws(LifecycleError) {
        try requireDistinctIDs(timeline)
        let now = timeline.effective(time)
        let moments = timeline.keys.flatMap { key in
            [key.lifecycle.activatesAt, key.lifecycle.retiresAt, key.lifecycle.expiresAt].compactMap(\.self)
        }
        for moment in [now] + moments.filter({ $0 > now }).sorted() where timeline.primary(at: moment) == nil {
            throw broken("no key seals at \(moment)")
        }
        for key in timeline.keys {
            try requirePast(key, timeline.updatedAt)
            try requireOverlap(key)
        }
    }

    /// What has been done was done no later than the last change.
    private static func requirePast(_ key: KeyTimeline.Key, _ updatedAt: UnixTime?) throws(LifecycleError) {
        guard let updatedAt else { return }
        let (created, revoked) = (key.lifecycle.createdAt, key.lifecycle.revokedAt)
        let moments = [("created", created), ("revoked", revoked), ("destroyed", key.lifecycle.destroyedAt)]
        for case (let what, let moment?) in moments where moment > updatedAt {
            throw broken("key \(key.kid) was \(what) at \(moment), after the last change at \(updatedAt)")
        }
    }

    /// A retired key opens at least as long as a push that it sealed can be on its way.
    private static func requireOverlap(_ key: KeyTimeline.Key) throws(LifecycleError) {
        let flight = RotationPolicy.longestFlightInSeconds + Freshness.toleranceInSeconds
        guard let retiresAt = key.lifecycle.retiresAt, let expiresAt = key.lifecycle.expiresAt,
            key.lifecycle.revokedAt == nil, key.lifecycle.destroyedAt == nil, expiresAt < retiresAt + flight
        else { return }
        throw broken(
            "key \(key.kid) retires at \(retiresAt) and expires at \(expiresAt), while pushes are on their way")
    }
}
