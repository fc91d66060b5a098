/// What each key may do at a moment (PROTOCOL section 9): a function of the timestamps alone.
extension Keyset {
    /// Of the keys that seal, the one with the greatest (activatesAt, createdAt, kid bytes).
    package func primary(at time: UnixTime) -> Entry? {
        let time = effective(time)
        return entries.filter { $0.lifecycle.seals(at: time) }.max { left, right in
            Self.rank(left) < Self.rank(right)
        }
    }

    /// - Returns: nil for a key that isn't in the set.
    public func state(of kid: KeyID, at time: UnixTime) -> KeyState? {
        guard let lifecycle = entry(kid)?.lifecycle else { return nil }
        let now = effective(time)
        if lifecycle.isRevoked(at: now) { return .revoked }
        if lifecycle.isExpired(at: now) { return .expired }
        if primary(at: now)?.record.kid == kid { return .primary }
        let isActive = lifecycle.activatesAt.map { $0 <= now } ?? false
        return isActive ? .retiring : .pending
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

    private static func rank(_ entry: Entry) -> (UnixTime, UnixTime, KeyID) {
        let always = UnixTime(.min)
        return (entry.lifecycle.activatesAt ?? always, entry.lifecycle.createdAt ?? always, entry.record.kid)
    }
}
