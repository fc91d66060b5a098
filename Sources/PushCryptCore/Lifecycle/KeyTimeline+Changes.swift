/// The changes to the keys of a keyset, as functions of the timestamps. `now` is no earlier than the last change.
///
/// Each returns what it loses as sentences for an operator; an empty array means that nothing is lost. `force` allows what
/// an operator may decide; nothing allows what breaks an invariant.
extension KeyTimeline {
    /// Adds a key that seals after the others. Its predecessor gets its `retiresAt` in the same step.
    ///
    /// - Parameter activatesAt: nil while an operator has to promote it; a past time counts as now.
    package mutating func add(
        _ kid: KeyID, activatesAt: UnixTime?, at now: UnixTime, _ policy: RotationPolicy
    ) throws(LifecycleError) {
        guard key(kid) == nil else {
            throw LifecycleError(.idTaken, "key \(kid) is or was in this keyset; an id is never used again")
        }
        if let activatesAt, activatesAt <= now { retireSealingKeys(at: now, policy) }
        let lifecycle = KeyLifecycle(createdAt: now, activatesAt: activatesAt.map { max($0, now) })
        keys.append(.init(kid, lifecycle))
        schedule(at: now, policy)
    }

    /// Lets a pending key seal from now on.
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
        retireSealingKeys(at: now, policy)
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

    /// Makes a key stop sealing now; it opens until its overlap ends. A pending key never begins to seal.
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
        change(kid) { lifecycle in
            lifecycle.retiresAt = now
            lifecycle.expiresAt = now + policy.opensAfterRetiringInSeconds
        }
        schedule(at: now, policy)
        return ["key \(kid) will never seal; the key before it goes on"]
    }

    /// Withdraws a key: it neither seals nor opens from now on. The caller that revokes the primary adds its successor in
    /// the same step.
    package mutating func revoke(
        _ kid: KeyID, at now: UnixTime, _ policy: RotationPolicy
    ) throws(LifecycleError) -> [String] {
        try require(kid, in: .pending, .primary, .retiring, .expired, at: now, "revoke")
        let state = state(of: kid, at: now)
        change(kid) { lifecycle in
            lifecycle.revokedAt = now
            // Its material is kept for `reseal` until then. A key that had stopped sealing keeps its time.
            let end = now + policy.opensAfterRetiringInSeconds
            let isOver = state == .retiring || state == .expired
            lifecycle.expiresAt = isOver ? lifecycle.expiresAt ?? end : max(lifecycle.expiresAt ?? end, end)
        }
        schedule(at: now, policy)
        guard state == .primary || state == .retiring else { return [] }
        return ["every push made with key \(kid) that is still on its way shows a placeholder from now on"]
    }

    /// Marks a key's material as erased; its id is never used again.
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

    /// Applies a new policy. A longer overlap applies to keys that are retired already; a shorter one doesn't. Required
    /// coverage and a longer `publishLead` apply to pending keys too.
    ///
    /// - Returns: the pending keys that now begin later, or wait to be promoted.
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
