package import PushCryptCore

/// The changes to the keys of a keyset, as functions of the timestamps. `now` is never before the last change.
///
/// Each says what it loses as sentences for an operator; none means nothing. What an operator may overrule is done with
/// `force`, what nobody may isn't.
extension KeyTimeline {
    /// A key that comes after the others. The one that seals before it gets its end in the same step.
    ///
    /// - Parameter activatesAt: nil while an operator has to promote it; a past time counts as now.
    package mutating func add(
        _ kid: KeyID, activatesAt: UnixTime?, at now: UnixTime, _ policy: RotationPolicy
    ) throws(LifecycleError) {
        guard key(kid) == nil else {
            throw LifecycleError(.idTaken, "key \(kid) is or was in this keyset; an id is never used again")
        }
        if let activatesAt, activatesAt <= now { retireWhatSeals(at: now, policy) }
        let lifecycle = KeyLifecycle(createdAt: now, activatesAt: activatesAt.map { max($0, now) })
        keys.append(.init(kid, lifecycle))
        schedule(at: now, policy)
    }

    /// A pending key seals from now on.
    package mutating func promote(
        _ kid: KeyID, at now: UnixTime, _ policy: RotationPolicy, force: Bool
    ) throws(LifecycleError) -> [String] {
        try require(kid, in: .pending, at: now, "promote")
        let losses = lossesOfPromoting(kid, at: now, policy)
        guard losses.isEmpty || force else {
            let lead = DurationText.human(policy.publishLeadInSeconds)
            let created = key(kid)?.lifecycle.createdAt
            let (since, advice) =
                created.map { ("since \($0)", "wait until \($0 + policy.publishLeadInSeconds)") }
                ?? ("for nobody knows how long", "ask the devices")
            throw LifecycleError(
                .blocked,
                "key \(kid) is published \(since) and the policy wants \(lead) before it seals: "
                    + "\(losses.joined(separator: "; ")); \(advice), or say --force")
        }
        retireWhatSeals(at: now, policy)
        change(kid) { $0.activatesAt = now }
        schedule(at: now, policy)
        return losses
    }

    private func lossesOfPromoting(_ kid: KeyID, at now: UnixTime, _ policy: RotationPolicy) -> [String] {
        let created = key(kid)?.lifecycle.createdAt
        if let created, created + policy.publishLeadInSeconds <= now { return [] }
        let since = created.map { " since \($0)" } ?? ""
        return ["devices that haven't fetched key \(kid)\(since) show a placeholder until they do"]
    }

    /// A key stops sealing now; it opens until its overlap is over. A pending one never begins.
    package mutating func retire(
        _ kid: KeyID, at now: UnixTime, _ policy: RotationPolicy
    ) throws(LifecycleError) -> [String] {
        try require(kid, in: .pending, .primary, at: now, "retire")
        if state(of: kid, at: now) == .primary {
            throw LifecycleError(
                .invariantBroken,
                "key \(kid) is the one that seals, and no other could take over now: add a key and promote it, which "
                    + "retires this one")
        }
        change(kid) { ($0.retiresAt, $0.expiresAt) = (now, now + policy.opensAfterRetiringInSeconds) }
        schedule(at: now, policy)
        return ["key \(kid) will never seal; the key before it goes on"]
    }

    /// A key is withdrawn: it neither seals nor opens any more. Whoever revokes the primary adds its successor in the
    /// same step.
    package mutating func revoke(
        _ kid: KeyID, at now: UnixTime, _ policy: RotationPolicy
    ) throws(LifecycleError) -> [String] {
        try require(kid, in: .pending, .primary, .retiring, .expired, at: now, "revoke")
        let state = state(of: kid, at: now)
        change(kid) { lifecycle in
            lifecycle.revokedAt = now
            // Until when its material is kept for `reseal`. One that had stopped sealing has its time already.
            let end = now + policy.opensAfterRetiringInSeconds
            let isOver = state == .retiring || state == .expired
            lifecycle.expiresAt = isOver ? lifecycle.expiresAt ?? end : max(lifecycle.expiresAt ?? end, end)
        }
        schedule(at: now, policy)
        guard state == .primary || state == .retiring else { return [] }
        return ["every push made with key \(kid) that is still on its way shows a placeholder from now on"]
    }

    /// A key's material is erased; its id stays taken.
    package mutating func destroy(
        _ kid: KeyID, at now: UnixTime, _ policy: RotationPolicy, force: Bool
    ) throws(LifecycleError) -> [String] {
        guard let state = state(of: kid, at: now) else { throw Self.unknown(kid) }
        var losses = [String]()
        switch state {
        case .destroyed: throw LifecycleError(.wrongState, "key \(kid) is destroyed already")
        case .primary:
            throw LifecycleError(.invariantBroken, "key \(kid) is the one that seals; it can't be destroyed")
        case .expired: break
        case .revoked where key(kid)?.lifecycle.expiresAt.map { $0 <= now } ?? true: break
        case .revoked:
            losses.append("what waits at the sender sealed with key \(kid) can't be sealed again by `reseal`")
        case .pending: losses.append("key \(kid) will never seal; the key before it goes on")
        default:
            losses.append("every push made with key \(kid) that is still on its way shows a placeholder, for good")
        }
        guard losses.isEmpty || force else {
            let time = key(kid)?.lifecycle.expiresAt.map { "wait until \($0)" } ?? "retire it first"
            throw LifecycleError(
                .blocked, "key \(kid) is \(state): \(losses.joined(separator: "; ")); \(time), or say --force")
        }
        change(kid) { $0.destroyedAt = now }
        schedule(at: now, policy)
        return losses
    }

    /// A longer overlap holds for the keys that are retired already; a shorter one doesn't take back what they have. A
    /// gate, and a longer publishLead, hold for pending keys too.
    ///
    /// - Returns: the pending keys that begin later than they were to, or wait to be promoted now.
    @discardableResult
    package mutating func adopt(
        _ policy: RotationPolicy, after old: RotationPolicy, at now: UnixTime
    ) -> [KeyID] {
        for key in keys(in: .retiring, at: now) {
            guard let retiresAt = key.lifecycle.retiresAt, let expiresAt = key.lifecycle.expiresAt else { continue }
            change(key.kid) { $0.expiresAt = max(expiresAt, retiresAt + policy.opensAfterRetiringInSeconds) }
        }
        let postponed = postponePending(at: now, policy, after: old)
        schedule(at: now, policy)
        return postponed
    }

    private func require(
        _ kid: KeyID, in states: KeyState..., at now: UnixTime, _ verb: String
    ) throws(LifecycleError) {
        guard let state = state(of: kid, at: now) else { throw Self.unknown(kid) }
        guard states.contains(state) else {
            let fitting = states.map(\.description).joined(separator: ", ")
            throw LifecycleError(.wrongState, "key \(kid) is \(state); you can \(verb) a key that is: \(fitting)")
        }
    }

    private static func unknown(_ kid: KeyID) -> LifecycleError {
        LifecycleError(.unknownKey, "no key \(kid) in this keyset")
    }
}
