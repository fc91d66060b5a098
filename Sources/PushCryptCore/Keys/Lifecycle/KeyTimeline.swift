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
        key(kid).map { state(of: $0, at: effective(time), primary: primary(at: time)?.kid) }
    }

    package func keys(in states: KeyState..., at time: UnixTime) -> [Key] {
        let (now, primary) = (effective(time), primary(at: time)?.kid)
        return keys.filter { states.contains(state(of: $0, at: now, primary: primary)) }
    }

    private func state(of key: Key, at now: UnixTime, primary: KeyID?) -> KeyState {
        key.kid == primary ? .primary : key.lifecycle.state(at: now)
    }
}

extension KeyTimeline.Key {
    /// Orders keys by when they seal.
    package var rank: (UnixTime, UnixTime, KeyID) {
        let always = UnixTime(.min)
        return (lifecycle.activatesAt ?? always, lifecycle.createdAt ?? always, kid)
    }
}
