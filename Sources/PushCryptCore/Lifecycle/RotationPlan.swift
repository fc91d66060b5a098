/// The steps that a keyset's policy asks for at a moment, computed from the timeline, the policy and the time alone.
package struct RotationPlan: Hashable, Sendable {
    package struct Step: Hashable, Sendable {
        package let action: Action
        /// When it became due, or when it will be.
        package let dueAt: UnixTime
        /// Why nothing is lost by doing it.
        package let why: String
        /// Why it can't be done now; nil if it can.
        package var blockedBy: String?
    }

    package enum Action: Hashable, Sendable {
        /// A new key. Without `activatesAt` it waits until it is promoted.
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

    /// Whether enough devices hold a key for it to seal, and a sentence that says how many do.
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
    /// The step that will be due next. If it is blocked, waiting alone doesn't unblock it.
    package private(set) var next: Step?

    /// - Parameters:
    ///   - time: the clock. The plan is made for no earlier moment than the last change.
    ///   - beginsNow: whether a rotation begins before it is due.
    ///   - confirmsClock: whether an operator confirmed a clock that looks wrong.
    ///   - coverage: the verdict for a key; nil if there are no reports.
    package init(
        _ timeline: KeyTimeline, _ policy: RotationPolicy, at time: UnixTime, beginsNow: Bool = false,
        confirmsClock: Bool = false, coverage: @escaping (KeyID) -> CoverageVerdict? = { _ in nil }
    ) {
        at = timeline.effective(time)
        let planner = RotationPlanner(
            timeline: timeline, policy: policy, now: at, beginsNow: beginsNow, coverage: coverage)
        let clockObjection = confirmsClock ? nil : ClockGuard(timeline, policy).objection(to: time)
        for var step in planner.steps() {
            if step.dueAt > at {
                if next.map({ step.dueAt < $0.dueAt }) ?? true { next = step }
                continue
            }
            step.blockedBy = clockObjection ?? step.blockedBy
            if step.blockedBy == nil { due.append(step) } else { blocked.append(step) }
        }
    }
}

/// Keeps a host whose clock is wrong from destroying keys (PROTOCOL section 9).
package struct ClockGuard {
    private let updatedAt: UnixTime?
    private let longestSilenceInSeconds: Int64

    package init(_ timeline: KeyTimeline, _ policy: RotationPolicy) {
        updatedAt = timeline.updatedAt
        longestSilenceInSeconds = max(3 * policy.rotateEveryInSeconds, 400 * 86_400)
    }

    /// Why the clock isn't believed; nil if it is.
    package func objection(to time: UnixTime) -> String? {
        guard let updatedAt else { return nil }
        if time < updatedAt {
            return "the clock says \(time), which is before the last change at \(updatedAt): set it, or say "
                + "--confirm-clock if it is right"
        }
        if time > updatedAt + longestSilenceInSeconds {
            let silence = DurationText.human(longestSilenceInSeconds)
            return "the clock says \(time), more than \(silence) after the last change at \(updatedAt): say "
                + "--confirm-clock if it is right"
        }
        return nil
    }
}
