/// The changes of a keyset's timestamps. `now` is no earlier than the last change.
///
/// Each change returns what is lost, as sentences for an operator; an empty array means that nothing is lost. `force`
/// allows a loss; nothing allows a violation of an invariant.
extension KeyTimeline {
    /// Adds a key that seals after the others, and sets the `retiresAt` of its predecessor.
    /// - Parameter activatesAt: nil if an operator must promote the key; a past time counts as now.
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

    /// Makes a pending key seal from now on.
    package mutating func promote(
        _ kid: KeyID, at now: UnixTime, _ policy: RotationPolicy, force: Bool
    ) throws(LifecycleError) -> [String] {
        try require(kid, in: .pending, at: now, "promote")
        let created = key(kid)?.lifecycle.createdAt
        let earliest = created.map { $0 + policy.publishLeadInSeconds }
        var losses = [String]()
        if earliest.map({ $0 > now }) ?? true {
            let since = created.map { " since \($0)" }
            losses = ["devices that haven't fetched key \(kid)\(since ?? "") show a placeholder until they do"]
            guard force else {
                let lead = DurationText.human(policy.publishLeadInSeconds)
                let advice = earliest.map { "wait until \($0)" } ?? "ask the devices"
                throw LifecycleError(
                    .blocked,
                    "key \(kid) was published\(since ?? " since an unknown time"), and the policy requires \(lead) before it "
                        + "seals: \(losses[0]); \(advice)")
            }
        }
        retireSealingKeys(at: now, policy)
        change(kid) { $0.activatesAt = now }
        schedule(at: now, policy)
        return losses
    }

    /// Revokes a key: it neither seals nor opens from now on. A caller that revokes the primary must add a successor in the
    /// same step.
    package mutating func revoke(
        _ kid: KeyID, at now: UnixTime, _ policy: RotationPolicy
    ) throws(LifecycleError) -> [String] {
        if let revokedAt = key(kid)?.lifecycle.revokedAt, revokedAt <= now, self.state(of: kid, at: now) == .revoked {
            throw LifecycleError(.wrongState, "key \(kid) has been revoked since \(revokedAt)")
        }
        try require(kid, in: .pending, .primary, .retiring, .expired, at: now, "revoke")
        let state = state(of: kid, at: now)
        change(kid) { lifecycle in
            lifecycle.revokedAt = now
            // `reseal` needs the material until the expiry. A key that no longer sealed keeps its expiry.
            let end = now + policy.opensAfterRetiringInSeconds
            let isOver = state == .retiring || state == .expired
            lifecycle.expiresAt = isOver ? lifecycle.expiresAt ?? end : max(lifecycle.expiresAt ?? end, end)
        }
        schedule(at: now, policy)
        guard state == .primary || state == .retiring else { return [] }
        return ["every push made with key \(kid) that is still on its way shows a placeholder from now on"]
    }

    /// Marks a key's material as erased.
    package mutating func destroy(
        _ kid: KeyID, at now: UnixTime, _ policy: RotationPolicy, force: Bool
    ) throws(LifecycleError) -> [String] {
        guard let state = state(of: kid, at: now) else { throw Self.unknown(kid) }
        var losses = [String]()
        switch state {
        case .destroyed: throw LifecycleError(.wrongState, "key \(kid) is already destroyed")
        case .primary:
            throw LifecycleError(
                .invariantBroken,
                "key \(kid) is the primary one and can't be destroyed: a rotation replaces it, and destroys it when it has "
                    + "expired; if it leaked, a revocation replaces it at once"
            )
        case .expired: break
        case .revoked where key(kid)?.lifecycle.expiresAt.map { $0 <= now } ?? true: break
        case .revoked: losses = ["the queued pushes of key \(kid) can no longer be sealed again"]
        case .pending: losses = ["key \(kid) will never seal; the previous key continues to seal"]
        default: losses = ["every push made with key \(kid) that is still on its way shows a placeholder permanently"]
        }
        guard losses.isEmpty || force else {
            let time = key(kid)?.lifecycle.expiresAt.map { "wait until \($0)" } ?? "revoke it first"
            throw LifecycleError(.blocked, "key \(kid) is \(state): \(losses[0]); \(time)")
        }
        change(kid) { $0.destroyedAt = now }
        schedule(at: now, policy)
        return losses
    }

    /// Applies a new policy. A longer overlap extends that of retired keys; a shorter one doesn't. Required coverage and a
    /// longer `publishLead` apply to pending keys too.
    /// - Returns: the pending keys that now begin later, or need to be promoted.
    @discardableResult
    package mutating func adopt(_ policy: RotationPolicy, after old: RotationPolicy, at now: UnixTime) -> [KeyID] {
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
        LifecycleError(.unknownKey, "this keyset has no key \(kid)")
    }
}

/// The schedule: when each key stops sealing.
extension KeyTimeline {
    /// Sets `retiresAt` of each key that isn't retired to the time at which the next key begins, so that two keys never seal
    /// at the same time. The last key has none.
    package mutating func schedule(at now: UnixTime, _ policy: RotationPolicy) {
        let order = keys.indices.filter { keys[$0].lifecycle.willSeal(at: now) }
            .sorted { keys[$0].rank < keys[$1].rank }
        for (index, next) in zip(order, order.dropFirst().map(Optional.some) + [nil]) {
            // In a file written by hand, several keys can seal. All but the primary stop now.
            let end = next.flatMap { keys[$0].lifecycle.activatesAt }.map { max($0, now) }
            let longest = end.map { $0 + policy.opensAfterRetiringInSeconds }
            let isMoved = keys[index].lifecycle.retiresAt != end
            keys[index].lifecycle.retiresAt = end
            let expiresAt = keys[index].lifecycle.expiresAt
            keys[index].lifecycle.expiresAt = isMoved ? longest : longest.map { max($0, expiresAt ?? $0) }
        }
        setMissingExpiry(at: now, policy)
    }

    /// Begins the overlap of a retired or revoked key whose `expiresAt` is missing in a file written by hand.
    private mutating func setMissingExpiry(at now: UnixTime, _ policy: RotationPolicy) {
        for index in keys.indices {
            let lifecycle = keys[index].lifecycle
            guard lifecycle.destroyedAt == nil, lifecycle.expiresAt == nil,
                let end = lifecycle.revokedAt ?? lifecycle.retiresAt, end <= now
            else { continue }
            keys[index].lifecycle.expiresAt = now + policy.opensAfterRetiringInSeconds
        }
    }

    /// Retires every key that seals, because another one begins to seal now. The schedule alone can't do this if both keys
    /// begin in the same second.
    mutating func retireSealingKeys(at now: UnixTime, _ policy: RotationPolicy) {
        for index in keys.indices where keys[index].lifecycle.seals(at: now) {
            keys[index].lifecycle.retire(at: now, policy)
        }
    }

    /// Applies a stricter policy to pending keys: they need to be promoted, or are published for longer.
    /// - Returns: the keys whose `activatesAt` changed.
    mutating func postponePending(at now: UnixTime, _ policy: RotationPolicy, after old: RotationPolicy) -> [KeyID] {
        let isGatedNow = policy.requiredCoverage != nil && old.requiredCoverage == nil
        let isLonger = policy.publishLeadInSeconds > old.publishLeadInSeconds
        guard isGatedNow || isLonger else { return [] }
        return keys(in: .pending, at: now).compactMap { key in
            guard let activatesAt = key.lifecycle.activatesAt else { return nil }
            let earliest = key.lifecycle.createdAt.map { $0 + policy.publishLeadInSeconds } ?? activatesAt
            let later = isGatedNow ? nil : max(activatesAt, earliest)
            guard later != activatesAt else { return nil }
            change(key.kid) { lifecycle in
                lifecycle.activatesAt = later
                lifecycle.retiresAt = nil
                lifecycle.expiresAt = nil
            }
            return key.kid
        }
    }

    mutating func change(_ kid: KeyID, _ body: (inout KeyLifecycle) -> Void) {
        guard let index = keys.firstIndex(where: { $0.kid == kid }) else { return }
        body(&keys[index].lifecycle)
    }
}

extension KeyLifecycle {
    /// Whether the key seals now or later, by its own times.
    fileprivate func willSeal(at now: UnixTime) -> Bool {
        activatesAt != nil && (retiresAt.map { $0 > now } ?? true) && state(at: now).opens
    }

    fileprivate mutating func retire(at now: UnixTime, _ policy: RotationPolicy) {
        retiresAt = now
        expiresAt = now + policy.opensAfterRetiringInSeconds
    }
}

/// Why a change to a keyset's keys is refused.
package struct LifecycleError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of refusal.
    package enum Code: Hashable, Sendable {
        /// The keyset has no key with this id.
        case unknownKey
        /// The id was used before; an id is never used twice.
        case idTaken
        /// The change isn't possible in the key's state.
        case wrongState
        /// The change is allowed later, or if an operator forces it.
        case blocked
        /// The change would violate an invariant and can't be forced.
        case invariantBroken
    }

    package let code: Code
    /// What is refused, why, and what the operator can do.
    package let reason: String

    package init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    package var description: String { reason }
}
