/// Computes the steps of a plan, due or not.
struct RotationPlanner {
    let timeline: KeyTimeline
    let policy: RotationPolicy
    let now: UnixTime
    let beginsNow: Bool
    let coverage: (KeyID) -> RotationPlan.CoverageVerdict?

    func steps() -> [RotationPlan.Step] {
        [timeline.primary(at: now) == nil ? additionWithoutPrimary() : succession()] + erasures()
    }

    /// Only a file that was written by hand has no key that seals.
    private func additionWithoutPrimary() -> RotationPlan.Step {
        .init(action: .add(activatesAt: now), dueAt: now, why: "no key seals: a new one can only help")
    }

    /// The oldest of the waiting keys is promoted first: one rotation at a time.
    private func succession() -> RotationPlan.Step {
        let pending = timeline.keys(in: .pending, at: now)
        let waiting = pending.filter { $0.lifecycle.activatesAt == nil }.min { $0.rank < $1.rank }
        return waiting.map(promotion) ?? addition()
    }

    /// The key that seals last, among those whose `activatesAt` is set.
    private var newest: KeyTimeline.Key? {
        timeline.keys(in: .pending, .primary, at: now).filter { $0.lifecycle.activatesAt != nil }
            .max { $0.rank < $1.rank }
    }

    /// A successor, `publishLead` before its predecessor's time ends.
    private func addition() -> RotationPlan.Step {
        guard let last = newest, let activated = last.lifecycle.activatesAt else { return additionWithoutPrimary() }
        let ends = [last.lifecycle.retiresAt, last.lifecycle.expiresAt, last.lifecycle.revokedAt].compactMap(\.self)
        let end = ends.reduce(activated + policy.rotateEveryInSeconds, min)
        let scheduled = end - policy.publishLeadInSeconds
        let dueAt = beginsNow && activated <= now ? min(now, scheduled) : scheduled
        let lead = DurationText.human(policy.publishLeadInSeconds)
        guard policy.requiredCoverage == nil else {
            return .init(
                action: .add(activatesAt: nil), dueAt: dueAt,
                why: "key \(last.kid) seals until the new one is promoted, which needs the devices' reports")
        }
        let activatesAt = max(dueAt, now) + policy.publishLeadInSeconds
        return .init(
            action: .add(activatesAt: activatesAt), dueAt: dueAt,
            why: "key \(last.kid) seals until \(activatesAt); the new one is published \(lead) before it seals")
    }

    /// For a key that waits to be promoted. A key with `activatesAt` begins to seal by itself.
    private func promotion(_ key: KeyTimeline.Key) -> RotationPlan.Step {
        guard let published = key.lifecycle.createdAt else {
            return .init(
                action: .promote(key.kid), dueAt: now, why: "it waits",
                blockedBy: "nobody knows since when it is published, its createdAt is missing; `keys promote --force` "
                    + "promotes it")
        }
        var step = RotationPlan.Step(
            action: .promote(key.kid), dueAt: promotionDate(publishedAt: published),
            why: "it is published since \(published)")
        guard let required = policy.requiredCoverage else { return step }
        switch coverage(key.kid) {
        case nil: step.blockedBy = "\(required) of the devices must hold it, and no reports were given (--reports)"
        case let verdict? where verdict.isEnough:
            step = RotationPlan.Step(
                action: step.action, dueAt: step.dueAt, why: step.why + "; " + verdict.explanation)
        case let verdict?: step.blockedBy = verdict.explanation
        }
        return step
    }

    /// `publishLead` after it was published. If another key began to seal since then, a rotation after that.
    private func promotionDate(publishedAt published: UnixTime) -> UnixTime {
        let earliest = published + policy.publishLeadInSeconds
        guard let activated = newest?.lifecycle.activatesAt, activated > published else { return earliest }
        return max(earliest, activated + policy.rotateEveryInSeconds)
    }

    /// Erases keys that no push can need any more.
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
