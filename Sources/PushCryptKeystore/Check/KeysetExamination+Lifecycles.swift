import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptPrimitives

/// Checks the states of the keys, the steps of the rotation and the signed set.
extension KeysetExamination {
    mutating func examineLifecycles(_ timeline: KeyTimeline) {
        if timeline.primary(at: now) == nil {
            add(.error, "no-sealing-key", "no key seals at \(timeline.effective(now))", advice: change("rotate"))
        } else {
            do throws(LifecycleError) {
                try Invariants.check(standing: timeline, at: now)
            } catch {
                add(.error, "lives", error.reason, advice: command("keys list"))
            }
        }
        examineErasures(timeline)
        for key in timeline.keys(in: .primary, .retiring, at: now) {
            guard let expiresAt = key.lifecycle.expiresAt, expiresAt <= now + Self.soonInSeconds else { continue }
            add(
                .note, "expiring", "key \(key.kid) opens until \(expiresAt)",
                advice: command("keys list") + "  # nothing to do, unless devices still lack its successor")
        }
    }

    private mutating func examineErasures(_ timeline: KeyTimeline) {
        for key in timeline.keys(in: .expired, .revoked, at: now) {
            // The material of a revoked key stays for `reseal` until then.
            guard let expiresAt = key.lifecycle.expiresAt, expiresAt <= timeline.effective(now) else { continue }
            let revokedAt = timeline.state(of: key.kid, at: now) == .revoked ? key.lifecycle.revokedAt : nil
            add(
                expiresAt + Self.graceInSeconds < now ? .warning : .note, revokedAt == nil ? "expired" : "revoked",
                revokedAt.map {
                    "key \(key.kid) was revoked at \($0), and its material, which nothing has needed since "
                        + "\(expiresAt), is still there"
                } ?? "key \(key.kid) opens nothing since \(expiresAt), and its material is still there",
                advice: change("keys prune"), dueAt: expiresAt)
        }
    }

    mutating func examineRotation(_ metadata: KeysetMetadata) {
        if let objection = clockObjection {
            // Under a clock that is behind, sealing is refused too.
            add(
                isClockAhead ? .warning : .error, "clock", objection,
                advice: isClockAhead ? change("rotate") : Self.behindAdvice)
        }
        if metadata.policy.publishLeadInSeconds == 0 {
            add(
                .warning, "no-publish-lead",
                "publishLead is 0: after each rotation, devices show a placeholder until they have fetched the new key",
                advice: change("keys policy --publish-lead 7d"))
        }
        let condition = metadata.signedSet?.condition(at: now) ?? .valid
        let plan = plan(metadata)
        // examineLifecycles reports expired keys, and examineSignedSet an old set.
        func isReported(_ step: RotationPlan.Step) -> Bool {
            if case .destroy = step.action { return true }
            return step.action == .renew && condition != .valid
        }
        for step in plan.due where !isReported(step) {
            let isLate = step.dueAt + Self.graceInSeconds < now
            add(
                isLate ? .warning : .note, isLate ? "rotation-overdue" : "rotation-due",
                "it has been due since \(step.dueAt) \(step.description)", advice: change("rotate"),
                dueAt: step.dueAt)
        }
        for step in plan.blocked where !isReported(step) {
            let isRefused = isRefused(step)
            // The host that changes the keyset has a day for it.
            let isWaiting = isRefused && step.dueAt + Self.graceInSeconds >= now
            let objection =
                isRefused && refusal?.host == nil
                ? "but rotate refuses the keyset until its error is corrected"
                : "which is blocked: \(step.blockedBy ?? "")"
            add(
                isWaiting ? .note : .warning, "rotation-blocked",
                "it has been due since \(step.dueAt) \(step.description), \(objection)",
                advice: isRefused || clockObjection != nil
                    ? change("rotate") : command("rotate --dry-run") + secretArguments, dueAt: step.dueAt)
        }
    }

    mutating func examineSignedSet(_ set: SenderSetPublication, _ metadata: KeysetMetadata) {
        let issued = "the signed set was issued at \(set.issuedAt) and"
        let advice = change(
            "rotate", note: "then publish the set: \(PublishedSet.command(snapshot.path, secretArguments))")
        let plan = plan(metadata)
        let dueAt = (plan.due + plan.blocked).map(\.dueAt).min()
        switch set.condition(at: now) {
        case .valid: break
        case .expiring:
            add(
                .warning, "set-expiring", "\(issued) is valid until \(set.validUntil)", advice: advice, dueAt: dueAt)
        case .expired:
            add(
                .error, "set-expired", "\(issued) was valid until \(set.validUntil): apps verify nothing with it",
                advice: advice)
        }
    }

    /// A week: keys that expire within it are reported.
    private static let soonInSeconds: Int64 = 7 * 86_400
    /// A day, so that a host that rotates daily is never late.
    static let graceInSeconds: Int64 = 86_400
}

extension RotationPlan.Step {
    fileprivate var description: String {
        if action == .renew { return "to issue the signed set again" }
        return action.kid.map { "to \(action.name) key \($0)" } ?? "to \(action.name) the next key"
    }
}
