import PushCryptCore
import PushCryptKeysets

/// What the lives of the keys, the policy and the clock say to each other.
extension KeysetExamination {
    mutating func examineLives(_ metadata: KeysetMetadata) {
        guard metadata.timeline.primary(at: now) != nil else {
            return add(
                .error, "no-sealing-key", "no key seals at \(metadata.timeline.effective(now))",
                advice: command("rotate"))
        }
        do throws(LifecycleError) {
            try Invariants.check(standing: metadata.timeline, at: now)
        } catch {
            add(.error, "lives", error.reason, advice: command("keys list"))
        }
    }

    mutating func examineExpiry(_ timeline: KeyTimeline) {
        for key in timeline.keys(in: .expired, at: now) {
            let expiresAt = key.lifecycle.expiresAt.map { "since \($0)" } ?? ""
            add(
                .warning, "expired", "key \(key.kid) opens nothing \(expiresAt), and its material is still there",
                advice: command("keys prune"))
        }
        for key in timeline.keys(in: .primary, .retiring, at: now) {
            guard let expiresAt = key.lifecycle.expiresAt, expiresAt <= now + Self.soonInSeconds else { continue }
            add(
                .note, "expiring", "key \(key.kid) opens until \(expiresAt)",
                advice: "nothing, unless devices still lack its successor: \(command("keys list"))")
        }
    }

    mutating func examineRotation(_ metadata: KeysetMetadata) {
        guard !snapshot.isDemo else { return }
        if let objection = ClockGuard(metadata.timeline, metadata.policy).objection(to: now) {
            add(.warning, "clock", objection, advice: "date -u")
        }
        if metadata.policy.publishLeadInSeconds == 0 {
            add(
                .warning, "no-publish-lead",
                "publishLead is 0: devices that haven't fetched a new key show a placeholder right after each rotation",
                advice: command("keys policy --publish-lead 7d"))
        }
        let plan = RotationPlan(metadata.timeline, metadata.policy, at: now, confirmsClock: true)
        for step in plan.due where !step.action.isErasure {
            let isLate = step.dueAt + Self.graceInSeconds < now
            add(
                isLate ? .warning : .note, isLate ? "rotation-overdue" : "rotation-due",
                "\(step.words) is due since \(step.dueAt)", advice: command("rotate"))
        }
        for step in plan.blocked {
            add(
                .warning, "rotation-blocked",
                "\(step.words) is due since \(step.dueAt) and blocked: \(step.blockedBy ?? "")",
                advice: command("rotate --dry-run"))
        }
    }

    /// A key's last week is worth knowing of.
    private static let soonInSeconds: Int64 = 7 * 86_400
    /// Whoever rotates once a day is never late.
    private static let graceInSeconds: Int64 = 86_400
}

extension RotationPlan.Action {
    fileprivate var isErasure: Bool {
        if case .destroy = self { true } else { false }
    }
}

extension RotationPlan.Step {
    fileprivate var words: String {
        action.kid.map { "to \(action.name) key \($0)" } ?? "to \(action.name) the next key"
    }
}
