/// The lives of a keyset's keys, and what follows from them at a moment (PROTOCOL section 9): a function of the
/// timestamps alone, without key material.
package struct KeyTimeline: Hashable, Sendable {
    package struct Key: Hashable, Sendable {
        package let kid: KeyID
        package var lifecycle: KeyLifecycle

        package init(_ kid: KeyID, _ lifecycle: KeyLifecycle) {
            self.kid = kid
            self.lifecycle = lifecycle
        }
    }

    /// Destroyed ones among them: their ids stay taken.
    package var keys: [Key]
    /// When the keyset was last written. State is evaluated no earlier than this, so that it only moves forward.
    package var updatedAt: UnixTime?

    package init(_ keys: [Key], updatedAt: UnixTime? = nil) {
        self.keys = keys
        self.updatedAt = updatedAt
    }

    package func effective(_ time: UnixTime) -> UnixTime {
        updatedAt.map { max($0, time) } ?? time
    }

    package func key(_ kid: KeyID) -> Key? { keys.first { $0.kid == kid } }

    /// Of the keys that seal, the one with the greatest (activatesAt, createdAt, kid bytes).
    package func primary(at time: UnixTime) -> Key? {
        let now = effective(time)
        return keys.filter { $0.lifecycle.seals(at: now) }.max { $0.rank < $1.rank }
    }

    /// - Returns: nil for a key that isn't in the keyset.
    package func state(of kid: KeyID, at time: UnixTime) -> KeyState? {
        guard let key = key(kid) else { return nil }
        let now = effective(time)
        let state = key.lifecycle.state(at: now)
        return state.opens && primary(at: now)?.kid == kid ? .primary : state
    }

    package func keys(in states: KeyState..., at time: UnixTime) -> [Key] {
        keys.filter { key in state(of: key.kid, at: time).map(states.contains) ?? false }
    }
}

extension KeyTimeline.Key {
    /// Orders keys by when they seal.
    package var rank: (UnixTime, UnixTime, KeyID) {
        let always = UnixTime(.min)
        return (lifecycle.activatesAt ?? always, lifecycle.createdAt ?? always, kid)
    }
}
