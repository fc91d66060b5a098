import PushCryptCore

/// Observes a keyset and records what must not happen. At each time it asks which key seals and which keys open. It uses
/// nothing of the plans of the code under test.
struct Witness {
    private(set) var flaws: [String] = []
    /// Keys whose early sealing, or whose loss, an operator has accepted.
    var mayBeEarly: Set<KeyID> = []
    var givenUp: Set<KeyID> = []
    /// Whether the number of keys that open is checked, which requires rotations in time.
    var countsOpenKeys = false

    private var lastSealed: [KeyID: UnixTime] = [:]
    private var neededUntil: [KeyID: UnixTime] = [:]
    private var ranks: [KeyID: Int] = [:]
    private var ranksAtLastWrite: [KeyID: Int] = [:]
    private var hadEnoughKeys = false
    private var watchedUntil: UnixTime?

    private static let flight: Int64 = 30 * day + 600

    /// Watches at every second at which something can change, and the second before it, up to `end`.
    mutating func watch(_ keyset: SimulatedKeyset, until end: UnixTime) {
        let start = watchedUntil ?? end
        guard start <= end else { return }
        let moments = keyset.timeline.keys.flatMap { key in
            let life = key.lifecycle
            return [life.activatesAt, life.retiresAt, life.expiresAt, life.revokedAt].compactMap(\.self)
        }
        let seconds = moments.flatMap { [$0 - 1, $0] }.filter { start < $0 && $0 < end } + [start, end]
        for second in Set(seconds).sorted() { look(keyset, at: second) }
        watchedUntil = end
    }

    /// After a write.
    mutating func sawWrite(_ keyset: SimulatedKeyset) {
        let now = keyset.timeline.updatedAt!
        watch(keyset, until: now)
        ranksAtLastWrite = ranks
        for key in keyset.timeline.keys(in: .retiring, at: now) {
            guard let sealed = lastSealed[key.kid] else { continue }
            require(key.kid, until: sealed + keyset.policy.opensAfterRetiringInSeconds)
        }
    }

    /// A clock that was set back shows no key in an earlier state than the last write did.
    mutating func lookBack(_ keyset: SimulatedKeyset, at clock: UnixTime) {
        for (kid, state) in states(keyset.timeline, at: clock) where state.rank < ranksAtLastWrite[kid]! {
            note("by that clock key \(kid) is \(state) again", clock)
        }
    }

    private mutating func look(_ keyset: SimulatedKeyset, at now: UnixTime) {
        let timeline = keyset.timeline
        let primary = lookAtPrimary(timeline, now)
        let states = states(timeline, at: now)
        for (kid, state) in states {
            if (state == .primary) != (kid == primary) { note("key \(kid) is \(state)", now) }
            if let rank = ranks.updateValue(state.rank, forKey: kid), rank > state.rank {
                note("key \(kid) is \(state) again", now)
            }
            if !state.opens, !givenUp.contains(kid) { lookAtEnd(of: kid, state, now) }
        }
        if let lost = Set(ranks.keys).subtracting(states.keys).first { note("key \(lost) is lost", now) }
        if let primary { sawSealing(primary, keyset, now) }
        countOpenKeys(states.values.count { $0.opens }, keyset.policy.keep, now)
    }

    private func states(_ timeline: KeyTimeline, at time: UnixTime) -> [KeyID: KeyState] {
        var states = [KeyID: KeyState]()
        for state in [.pending, .primary, .retiring, .expired, .revoked, .destroyed] as [KeyState] {
            for key in timeline.keys(in: state, at: time) { states[key.kid] = state }
        }
        return states
    }

    /// Compares the states of the published times, without creation times and `updatedAt`, with those of the keyset.
    private mutating func lookAtPrimary(_ timeline: KeyTimeline, _ now: UnixTime) -> KeyID? {
        let sealing = timeline.keys.filter { key in
            let life = key.lifecycle
            return life.activatesAt.map { $0 <= now } ?? false && life.retiresAt.map { now < $0 } ?? true
                && life.expiresAt.map { now < $0 } ?? true && life.revokedAt == nil && life.destroyedAt == nil
        }
        if sealing.count != 1 { note("\(sealing.count) keys seal by their published times", now) }
        if timeline.primary(at: now)?.kid != sealing.first?.kid { note("the primary is another key", now) }
        return timeline.primary(at: now)?.kid
    }

    private mutating func lookAtEnd(of kid: KeyID, _ state: KeyState, _ now: UnixTime) {
        if let needed = neededUntil[kid], now < needed { note("key \(kid) is \(state), needed until \(needed)", now) }
    }

    private mutating func sawSealing(_ kid: KeyID, _ keyset: SimulatedKeyset, _ now: UnixTime) {
        if lastSealed[kid] == nil, !lastSealed.isEmpty, !mayBeEarly.contains(kid),
            let created = keyset.timeline.key(kid)!.lifecycle.createdAt,
            now < created + keyset.policy.publishLeadInSeconds
        {
            note("key \(kid) seals and was made at \(created)", now)
        }
        lastSealed[kid] = now
        require(kid, until: now + Self.flight)
    }

    private mutating func require(_ kid: KeyID, until time: UnixTime) {
        neededUntil[kid] = max(neededUntil[kid] ?? time, time)
    }

    private mutating func countOpenKeys(_ count: Int, _ keep: Int, _ now: UnixTime) {
        guard countsOpenKeys else { return }
        if hadEnoughKeys, count < keep { note("only \(count) keys open", now) }
        hadEnoughKeys = hadEnoughKeys || count >= keep
    }

    mutating func note(_ flaw: String, _ now: UnixTime) {
        if flaws.count < 5 { flaws.append("\(now): \(flaw)") }
    }
}
