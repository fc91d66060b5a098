package import PushCryptCore

/// The changes to the keys of a keyset, as functions of the timestamps. `now` is never before the last change.
///
/// Each says what it loses as sentences for an operator; none means nothing. What an operator may overrule is done with
/// `force`, what nobody may isn't.
extension KeyTimeline {
    /// A key that comes after the others. The one that seals before it gets its end in the same step.
    ///
    /// - Parameter activatesAt: nil while an operator has to promote it.
    package mutating func add(
        _ kid: KeyID, activatesAt: UnixTime?, at now: UnixTime, _ policy: RotationPolicy
    ) throws(LifecycleError) {
        guard key(kid) == nil else {
            throw LifecycleError(.idTaken, "key \(kid) is or was in this keyset; an id is never used again")
        }
        keys.append(.init(kid, KeyLifecycle(createdAt: now, activatesAt: activatesAt)))
        schedule(at: now, policy)
    }

    /// A pending key seals from now on.
    package mutating func promote(
        _ kid: KeyID, at now: UnixTime, _ policy: RotationPolicy, force: Bool
    ) throws(LifecycleError) -> [String] {
        try require(kid, in: .pending, at: now, "promote")
        var losses = [String]()
        if let created = key(kid)?.lifecycle.createdAt, created + policy.publishLeadInSeconds > now {
            let lead = DurationText.human(policy.publishLeadInSeconds)
            let loss = "devices that haven't fetched key \(kid) since \(created) show a placeholder until they do"
            guard force else {
                throw LifecycleError(
                    .blocked,
                    "key \(kid) is published since \(created) and the policy wants \(lead) before it seals: \(loss); "
                        + "wait until \(created + policy.publishLeadInSeconds), or say --force")
            }
            losses.append(loss)
        }
        change(kid) { $0.activatesAt = now }
        schedule(at: now, policy)
        return losses
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
        change(kid) { $0.retiresAt = now }
        change(kid) { $0.expiresAt = now + policy.opensAfterRetiringInSeconds }
        schedule(at: now, policy)
        return ["key \(kid) will never seal; the key before it goes on"]
    }

    /// A key is withdrawn: it neither seals nor opens any more. Whoever revokes the primary adds its successor in the
    /// same step.
    package mutating func revoke(
        _ kid: KeyID, at now: UnixTime, _ policy: RotationPolicy
    ) throws(LifecycleError) -> [String] {
        try require(kid, in: .pending, .primary, .retiring, .expired, at: now, "revoke")
        let opens = state(of: kid, at: now)?.opens ?? false
        let hasSealed = state(of: kid, at: now) != .pending
        change(kid) { lifecycle in
            lifecycle.revokedAt = now
            lifecycle.expiresAt = max(lifecycle.expiresAt ?? now, now + policy.opensAfterRetiringInSeconds)
        }
        schedule(at: now, policy)
        guard opens, hasSealed else { return [] }
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

    /// A longer overlap holds for the keys that are retired already; a shorter one doesn't take back what they have.
    package mutating func adopt(_ policy: RotationPolicy, at now: UnixTime) {
        for index in keys.indices {
            let lifecycle = keys[index].lifecycle
            guard let retiresAt = lifecycle.retiresAt, let expiresAt = lifecycle.expiresAt, expiresAt > now else {
                continue
            }
            keys[index].lifecycle.expiresAt = max(expiresAt, retiresAt + policy.opensAfterRetiringInSeconds)
        }
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

    private mutating func change(_ kid: KeyID, _ body: (inout KeyLifecycle) -> Void) {
        guard let index = keys.firstIndex(where: { $0.kid == kid }) else { return }
        body(&keys[index].lifecycle)
    }
}

extension KeyTimeline {
    /// Gives each key that isn't retired yet its end: the moment when the next one begins. No two keys ever seal at once,
    /// also for readers that know only the published times.
    private mutating func schedule(at now: UnixTime, _ policy: RotationPolicy) {
        let order = keys.indices.filter { willSeal(keys[$0].lifecycle, at: now) }
            .sorted { keys[$0].rank < keys[$1].rank }
        for (index, next) in zip(order, order.dropFirst().map(Optional.some) + [nil]) {
            let end = next.flatMap { keys[$0].lifecycle.activatesAt }
            guard keys[index].lifecycle.retiresAt != end else { continue }
            keys[index].lifecycle.retiresAt = end
            keys[index].lifecycle.expiresAt = end.map { $0 + policy.opensAfterRetiringInSeconds }
        }
    }

    /// Whether the key seals now or will, as far as its own times say.
    private func willSeal(_ lifecycle: KeyLifecycle, at now: UnixTime) -> Bool {
        lifecycle.activatesAt != nil && lifecycle.revokedAt == nil && lifecycle.destroyedAt == nil
            && lifecycle.retiresAt.map { $0 > now } ?? true
    }
}
