/// A stretch of a key's life in one state.
package struct KeyPhase: Hashable, Sendable {
    package let state: KeyState
    /// nil: nothing says since when.
    package let start: UnixTime?
    /// nil: nothing ends it so far.
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

/// Lives as a whole, where ``KeyTimeline/state(of:at:)`` tells of one moment.
extension KeyTimeline {
    /// The phases of each key, in the order of `keys`; each begins where the one before it ends, the first when the key
    /// was made.
    ///
    /// A function of the lives alone, whenever the keyset was written. The past is told as it was then: a key that is
    /// destroyed by now was something else before.
    package func phases() -> [[KeyPhase]] {
        let moments = Set(keys.flatMap(\.lifecycle.knownTimes)).sorted()
        var phases = [[KeyPhase]](repeating: [], count: keys.count)
        for (start, end) in zip([nil] + moments, moments + [nil]) {
            let then = start ?? UnixTime(.min)
            let lives = keys.map { $0.lifecycle.asKnown(at: then) }
            let primary = keys.indices.filter { lives[$0]?.seals(at: then) ?? false }
                .max { keys[$0].rank < keys[$1].rank }
            for (index, life) in lives.enumerated() {
                guard let state = life?.state(at: then) else { continue }
                phases[index].append(index == primary ? .primary : state, from: start, to: end)
            }
        }
        return phases
    }
}

extension KeyLifecycle {
    package var knownTimes: [UnixTime] {
        [createdAt, activatesAt, retiresAt, expiresAt, revokedAt, destroyedAt].compactMap(\.self)
    }

    /// nil before the key was made.
    fileprivate func asKnown(at time: UnixTime) -> KeyLifecycle? {
        if let createdAt, createdAt > time { return nil }
        var life = self
        if let destroyedAt, destroyedAt > time { life.destroyedAt = nil }
        return life
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
