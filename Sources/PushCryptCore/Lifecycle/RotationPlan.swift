/// The steps that a keyset's policy requires at a time: a function of the timeline, the policy and the time.
package struct RotationPlan: Hashable, Sendable {
    package struct Step: Hashable, Sendable {
        package let action: Action
        /// When the step is due.
        package let dueAt: UnixTime
        /// Why the step is due and loses nothing.
        package fileprivate(set) var why: String
        /// Why the step is blocked; nil if it isn't.
        package var blockedBy: String?
    }

    package enum Action: Hashable, Sendable {
        /// Adds a key. Without `activatesAt` it must be promoted.
        case add(activatesAt: UnixTime?)
        case promote(KeyID)
        case destroy(KeyID)

        package var name: String {
            switch self {
            case .add: "add"
            case .promote: "promote"
            case .destroy: "destroy"
            }
        }

        package var kid: KeyID? {
            switch self {
            case .add: nil
            case .promote(let kid), .destroy(let kid): kid
            }
        }
    }

    /// Whether enough devices have a key so that it may seal, with an explanation.
    package struct CoverageVerdict: Hashable, Sendable {
        package let isEnough: Bool
        package let explanation: String

        package init(isEnough: Bool, explanation: String) {
            self.isEnough = isEnough
            self.explanation = explanation
        }
    }

    package let at: UnixTime
    package private(set) var due: [Step] = []
    package private(set) var blocked: [Step] = []
    /// The step that will be due next. It may be blocked too.
    package private(set) var next: Step?
    /// Why the keyset is never rotated; nil if it is.
    package private(set) var exemption: String?

    /// The plan for publisher keys: no step is ever due (PROTOCOL section 10).
    package init(publishers timeline: KeyTimeline, at time: UnixTime) {
        at = timeline.effective(time)
        exemption = Self.publishers
    }

    package static let publishers =
        "publisher keys are never rotated: apps trust the publishers of their bundle, so they change with an app update"

    /// - Parameters:
    ///   - time: the clock's time. The plan is for no earlier time than the last change.
    ///   - beginsNow: whether a rotation begins before it is due.
    ///   - coverage: the verdict for a key; nil if there are no reports.
    package init(
        _ timeline: KeyTimeline, _ policy: RotationPolicy, at time: UnixTime, beginsNow: Bool = false,
        coverage: @escaping (KeyID) -> CoverageVerdict? = { _ in nil }
    ) {
        at = timeline.effective(time)
        let planner = RotationPlanner(
            timeline: timeline, policy: policy, now: at, beginsNow: beginsNow, coverage: coverage)
        for step in planner.steps() {
            if step.dueAt > at {
                if next.map({ step.dueAt < $0.dueAt }) ?? true { next = step }
                continue
            }
            if step.blockedBy == nil { due.append(step) } else { blocked.append(step) }
        }
    }
}

extension KeyTimeline {
    /// Why the clock seems to be behind; nil if it doesn't. The clocks of two hosts may differ by
    /// `Freshness.toleranceInSeconds`.
    package func clockIsBehind(at time: UnixTime) -> String? {
        guard let updatedAt, time + Freshness.toleranceInSeconds < updatedAt else { return nil }
        return "the clock is at \(time), which is before the last change at \(updatedAt)"
    }
}

/// Computes the steps of a plan, whether they are due or not.
struct RotationPlanner {
    let timeline: KeyTimeline
    let policy: RotationPolicy
    let now: UnixTime
    let beginsNow: Bool
    let coverage: (KeyID) -> RotationPlan.CoverageVerdict?

    func steps() -> [RotationPlan.Step] {
        [timeline.primary(at: now) == nil ? additionWithoutPrimary() : succession()] + erasures()
    }

    /// Only a file written by hand has no key that seals.
    private func additionWithoutPrimary() -> RotationPlan.Step {
        .init(action: .add(activatesAt: now), dueAt: now, why: "no key seals, so a new one loses nothing")
    }

    /// Promotes the oldest key that must be promoted, so that one rotation happens at a time.
    private func succession() -> RotationPlan.Step {
        let pending = timeline.keys(in: .pending, at: now)
        let waiting = pending.filter { $0.lifecycle.activatesAt == nil }.min { $0.rank < $1.rank }
        return waiting.map(promotion) ?? addition()
    }

    /// The key with `activatesAt` that seals last.
    private var newest: KeyTimeline.Key? {
        timeline.keys(in: .pending, .primary, at: now).filter { $0.lifecycle.activatesAt != nil }
            .max { $0.rank < $1.rank }
    }

    /// Adds a successor `publishLead` before its predecessor stops sealing.
    private func addition() -> RotationPlan.Step {
        guard let last = newest, let activated = last.lifecycle.activatesAt else { return additionWithoutPrimary() }
        let ends = [last.lifecycle.retiresAt, last.lifecycle.expiresAt, last.lifecycle.revokedAt]
        let end = ends.compactMap(\.self).reduce(activated + policy.rotateEveryInSeconds, min)
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

    /// Promotes a key without `activatesAt`.
    private func promotion(_ key: KeyTimeline.Key) -> RotationPlan.Step {
        guard let published = key.lifecycle.createdAt else {
            return .init(
                action: .promote(key.kid), dueAt: now, why: "it must be promoted",
                blockedBy:
                    "the time of its publication is unknown because its createdAt is missing; a rotation at once promotes it"
            )
        }
        var step = RotationPlan.Step(
            action: .promote(key.kid), dueAt: promotionDate(publishedAt: published),
            why: "it was published at \(published)")
        guard let required = policy.requiredCoverage else { return step }
        switch coverage(key.kid) {
        case nil: step.blockedBy = "\(required) of the devices must hold it, and no reports were given"
        case let verdict? where verdict.isEnough: step.why += "; " + verdict.explanation
        case let verdict?: step.blockedBy = verdict.explanation
        }
        return step
    }

    /// `publishLead` after the key was published, and at least `rotateEvery` after the last key began to seal.
    private func promotionDate(publishedAt published: UnixTime) -> UnixTime {
        let earliest = published + policy.publishLeadInSeconds
        guard let activated = newest?.lifecycle.activatesAt, activated > published else { return earliest }
        return max(earliest, activated + policy.rotateEveryInSeconds)
    }

    /// Erases keys that no push in flight can need.
    private func erasures() -> [RotationPlan.Step] {
        timeline.keys.compactMap { key in
            guard key.lifecycle.destroyedAt == nil, let expiresAt = key.lifecycle.expiresAt else { return nil }
            return .init(
                action: .destroy(key.kid), dueAt: expiresAt, why: reasonToErase(key.lifecycle, expiringAt: expiresAt))
        }.sorted { $0.dueAt < $1.dueAt }
    }

    private func reasonToErase(_ lifecycle: KeyLifecycle, expiringAt expiresAt: UnixTime) -> String {
        let revokedAt = lifecycle.revokedAt.flatMap { $0 < expiresAt ? $0 : nil }
        let opening = revokedAt.map { "it has opened nothing since it was revoked at \($0)" }
        let opens = opening ?? "it opens nothing from \(expiresAt) on"
        let end = [lifecycle.retiresAt, lifecycle.revokedAt].compactMap(\.self).min()
        guard let activatesAt = lifecycle.activatesAt, end.map({ activatesAt < $0 }) ?? true else {
            return opens + "; it never sealed a push"
        }
        let sealed = end.map { "the last push was sealed with it before \($0)" } ?? "it no longer seals"
        let resealing = revokedAt == nil ? "" : ", so `reseal` needs it no longer"
        return "\(opens); \(sealed), and no push is valid for more than 30 days\(resealing)"
    }
}
