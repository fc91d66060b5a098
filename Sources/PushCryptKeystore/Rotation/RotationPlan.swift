package import PushCryptCore
package import PushCryptKeysets

/// What a keyset's policy asks for at a moment: a function of its lives, its policy and the time.
package struct RotationPlan: Hashable, Sendable {
    package struct Step: Hashable, Sendable {
        package let action: Action
        /// Since when it is due, or when it will be.
        package let dueAt: UnixTime
        /// Why doing it loses nothing.
        package let why: String
        /// What keeps it from being done; nil for nothing.
        package var blockedBy: String?
    }

    package enum Action: Hashable, Sendable {
        /// A new key. Without `activatesAt` it waits for `promote`.
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

    package let at: UnixTime
    package private(set) var due: [Step] = []
    package private(set) var blocked: [Step] = []
    /// The step that is due next. Where it is blocked, time alone won't bring it.
    package private(set) var next: Step?

    /// - Parameters:
    ///   - time: the clock. The plan is made for no earlier moment than the last change.
    ///   - beginsNow: whether a rotation is begun early.
    ///   - confirmsClock: whether an operator vouches for a clock that looks wrong.
    ///   - coverage: whether enough devices hold a key; nil where nobody can tell.
    package init(
        _ keyset: KeysetMetadata, at time: UnixTime, beginsNow: Bool = false, confirmsClock: Bool = false,
        coverage: @escaping (KeyID) -> (isEnough: Bool, words: String)? = { _ in nil }
    ) {
        at = keyset.timeline.effective(time)
        let steps = Planner(keyset, at: at, beginsNow: beginsNow, coverage: coverage)
        let clock = confirmsClock ? nil : ClockGuard(keyset).objection(to: time)
        for var step in steps.steps() {
            if step.dueAt > at {
                if next.map({ step.dueAt < $0.dueAt }) ?? true { next = step }
                continue
            }
            step.blockedBy = clock ?? step.blockedBy
            if step.blockedBy == nil { due.append(step) } else { blocked.append(step) }
        }
    }
}

/// A host that booted in the wrong year destroys nothing (PROTOCOL section 9).
package struct ClockGuard {
    private let updatedAt: UnixTime?
    private let longestSilenceInSeconds: Int64

    package init(_ keyset: KeysetMetadata) {
        updatedAt = keyset.timeline.updatedAt
        longestSilenceInSeconds = max(3 * keyset.policy.rotateEveryInSeconds, 400 * 86_400)
    }

    /// Why the clock isn't believed; nil where it is.
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
