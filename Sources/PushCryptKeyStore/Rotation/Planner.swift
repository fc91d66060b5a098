import PushCryptCore
import PushCryptKeyFiles

/// The steps of a plan, due or not.
struct Planner {
    private let timeline: KeyTimeline
    private let policy: RotationPolicy
    private let now: UnixTime
    private let beginsNow: Bool
    private let coverage: (KeyID) -> (isEnough: Bool, words: String)?

    init(
        _ keyset: KeysetMetadata, at now: UnixTime, beginsNow: Bool,
        coverage: @escaping (KeyID) -> (isEnough: Bool, words: String)?
    ) {
        timeline = keyset.timeline
        policy = keyset.policy
        self.now = now
        self.beginsNow = beginsNow
        self.coverage = coverage
    }

    func steps() -> [RotationPlan.Step] {
        let pending = timeline.keys(in: .pending, at: now).sorted { $0.rank < $1.rank }
        let successor = pending.isEmpty ? [addition()] : pending.compactMap(promotion)
        return successor + erasures()
    }

    /// A successor, `publishLead` before the primary's time is over.
    private func addition() -> RotationPlan.Step {
        guard let primary = timeline.primary(at: now) else {
            return .init(
                action: .add(activatesAt: now), dueAt: now, why: "no key seals: a new one can only help")
        }
        let activated = primary.lifecycle.activatesAt ?? primary.lifecycle.createdAt ?? now
        let scheduled = activated + policy.rotateEveryInSeconds - policy.publishLeadInSeconds
        let dueAt = beginsNow ? min(now, scheduled) : scheduled
        let lead = DurationText.human(policy.publishLeadInSeconds)
        guard policy.requiredCoverage == nil else {
            return .init(
                action: .add(activatesAt: nil), dueAt: dueAt,
                why: "key \(primary.kid) seals until the new one is promoted, which needs the devices' reports")
        }
        let activatesAt = max(dueAt, now) + policy.publishLeadInSeconds
        return .init(
            action: .add(activatesAt: activatesAt), dueAt: dueAt,
            why: "key \(primary.kid) seals until \(activatesAt); the new one is published \(lead) before it seals")
    }

    /// For a key that waits to be promoted; one with a time of its own needs nobody.
    private func promotion(_ key: KeyTimeline.Key) -> RotationPlan.Step? {
        guard key.lifecycle.activatesAt == nil else { return nil }
        let published = key.lifecycle.createdAt ?? now
        var step = RotationPlan.Step(
            action: .promote(key.kid), dueAt: published + policy.publishLeadInSeconds,
            why: "it is published since \(published)")
        guard let required = policy.requiredCoverage else { return step }
        switch coverage(key.kid) {
        case nil: step.blockedBy = "\(required) of the devices must hold it, and no reports were given (--reports)"
        case (isEnough: false, let words)?: step.blockedBy = words
        case (isEnough: true, let words)?:
            step = RotationPlan.Step(action: step.action, dueAt: step.dueAt, why: step.why + "; " + words)
        }
        return step
    }

    /// Keys that no push can need any more.
    private func erasures() -> [RotationPlan.Step] {
        timeline.keys.compactMap { key in
            guard key.lifecycle.destroyedAt == nil, let expiresAt = key.lifecycle.expiresAt else { return nil }
            let end = key.lifecycle.revokedAt ?? key.lifecycle.retiresAt
            let sealed = end.map { "the last push was sealed with it before \($0)" } ?? "it seals no more"
            return .init(
                action: .destroy(key.kid), dueAt: expiresAt,
                why: "it opens nothing from \(expiresAt) on; \(sealed), and none lives longer than 30 days")
        }.sorted { $0.dueAt < $1.dueAt }
    }
}
