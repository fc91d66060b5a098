/// What each key may do at a moment (PROTOCOL section 9): a function of the timestamps alone.
extension Keyset {
    package var timeline: KeyTimeline {
        KeyTimeline(entries.map { KeyTimeline.Key($0.record.kid, $0.lifecycle) }, updatedAt: updatedAt)
    }

    /// Of the keys that seal, the one with the greatest (activatesAt, createdAt, kid bytes).
    package func primary(at time: UnixTime) -> Entry? {
        timeline.primary(at: time).flatMap { entry($0.kid) }
    }

    /// - Returns: nil for a key that isn't in the set.
    public func state(of kid: KeyID, at time: UnixTime) -> KeyState? {
        timeline.state(of: kid, at: time)
    }

    /// What a lookup by `kid` finds.
    package enum Lookup {
        case found(Entry)
        case notFound
        case expired
        case revoked
    }

    /// The key to open or verify with. A pending key opens: the sender's clock may be ahead.
    package func openingEntry(_ kid: KeyID, at time: UnixTime) -> Lookup {
        guard let entry = entry(kid) else { return .notFound }
        let now = effective(time)
        if entry.lifecycle.isRevoked(at: now) { return .revoked }
        if entry.lifecycle.isExpired(at: now) { return .expired }
        return .found(entry)
    }

    private func effective(_ time: UnixTime) -> UnixTime {
        updatedAt.map { max($0, time) } ?? time
    }
}
