/// The timestamps of a keyset's keys, and the state of each key at a time (PROTOCOL section 9). It contains no key material
/// and reads no clock.
package struct KeyTimeline: Hashable, Sendable {
    package struct Key: Hashable, Sendable {
        package let kid: KeyID
        package var lifecycle: KeyLifecycle

        package init(_ kid: KeyID, _ lifecycle: KeyLifecycle) {
            self.kid = kid
            self.lifecycle = lifecycle
        }
    }

    /// Includes destroyed keys: their ids are never used again.
    package var keys: [Key]
    /// When the keyset was last written. States are evaluated no earlier than this, so that they only move forward.
    package var updatedAt: UnixTime?

    package init(_ keys: [Key], updatedAt: UnixTime? = nil) {
        self.keys = keys
        self.updatedAt = updatedAt
    }

    /// The time at which states are evaluated: `time`, but no earlier than ``updatedAt``.
    package func effective(_ time: UnixTime) -> UnixTime { updatedAt.map { max($0, time) } ?? time }
    package func key(_ kid: KeyID) -> Key? { keys.first { $0.kid == kid } }

    /// The key that seals. If several do, the one with the greatest (activatesAt, createdAt, kid bytes).
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

    /// The times at which all keys are in the same state as at `time`. A sender can use the key of `time` until the range
    /// ends.
    package func span(around time: UnixTime) -> Range<UnixTime> {
        let now = effective(time)
        let moments = keys.map(\.lifecycle).flatMap { lifecycle in
            [lifecycle.activatesAt, lifecycle.retiresAt, lifecycle.expiresAt, lifecycle.revokedAt].compactMap(\.self)
        }
        let begin = moments.filter { $0 <= now }.max() ?? UnixTime(.min)
        let end = moments.filter { $0 > now }.min() ?? UnixTime(.max)
        // A time before the last write is evaluated as the time of that write.
        let isFixed = updatedAt.map { begin <= $0 } ?? false
        return (isFixed ? UnixTime(.min) : begin)..<end
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

/// A range of time in which a key is in one state.
package struct KeyPhase: Hashable, Sendable {
    package let state: KeyState
    /// nil if unknown.
    package let start: UnixTime?
    /// nil if no timestamp ends it.
    package fileprivate(set) var end: UnixTime?

    package init(_ state: KeyState, from start: UnixTime?, to end: UnixTime?) {
        self.state = state
        self.start = start
        self.end = end
    }

    package func contains(_ time: UnixTime) -> Bool {
        start.map { $0 <= time } ?? true && end.map { time < $0 } ?? true
    }
}

/// All states of each key over time, where ``KeyTimeline/state(of:at:)`` returns the state at one moment.
extension KeyTimeline {
    /// The phases of each key, in the order of `keys`. Each phase begins when the previous one ends; the first begins when
    /// the key was made. They depend on the keys' timestamps only, not on `updatedAt`.
    package func phases() -> [[KeyPhase]] {
        let moments = Set(keys.flatMap(\.lifecycle.knownTimes)).sorted()
        var phases = [[KeyPhase]](repeating: [], count: keys.count)
        for (start, end) in zip([nil] + moments, moments + [nil]) {
            let then = start ?? UnixTime(.min)
            let lifecycles = keys.map { $0.lifecycle.asKnown(at: then) }
            let primary = keys.indices.filter { lifecycles[$0]?.seals(at: then) ?? false }
                .max { keys[$0].rank < keys[$1].rank }
            for (index, lifecycle) in lifecycles.enumerated() {
                guard let state = lifecycle?.state(at: then) else { continue }
                phases[index].append(index == primary ? .primary : state, from: start, to: end)
            }
        }
        return phases
    }
}

extension KeyLifecycle {
    /// The lifecycle as it was at `time`; nil before the key was made.
    fileprivate func asKnown(at time: UnixTime) -> KeyLifecycle? {
        if let createdAt, createdAt > time { return nil }
        var lifecycle = self
        if let destroyedAt, destroyedAt > time { lifecycle.destroyedAt = nil }
        return lifecycle
    }
}

extension [KeyPhase] {
    fileprivate mutating func append(_ state: KeyState, from start: UnixTime?, to end: UnixTime?) {
        if last?.state == state {
            self[count - 1].end = end
        } else {
            append(KeyPhase(state, from: start, to: end))
        }
    }
}
