import PushCryptCore
import PushCryptKeystore

/// The stretch of time that a timeline shows, and where its dates stand.
struct TimeAxis {
    let start: UnixTime
    let end: UnixTime

    /// From shortly before the first moment that matters to a little after the last one that is known.
    init(_ view: KeysetView) {
        let living = view.lives.filter { $0.state != .destroyed }
        var moments = Self.moments(living)
        if moments.isEmpty { moments = Self.moments(view.lives) }
        if let plan = view.plan {
            moments += [plan.next?.dueAt].compactMap(\.self)
            moments += (plan.due + plan.blocked + [plan.next].compactMap(\.self)).compactMap(\.action.activatesAt)
        }
        if moments.isEmpty { moments = [view.now - 30 * 86_400, view.now + 30 * 86_400] }
        self.init(of: moments + [view.now], around: view.now, horizonInSeconds: Self.horizonInSeconds(view.policy))
    }

    /// - Parameter horizonInSeconds: what is further from `now` doesn't stretch the axis.
    init(of moments: [UnixTime], around now: UnixTime, horizonInSeconds: Int64) {
        let first = max(moments.min() ?? now, now - horizonInSeconds)
        let last = min(moments.max() ?? now, now + horizonInSeconds)
        let margin = max((last.seconds - first.seconds) / 40, 60)
        // Dates are written in the years 0 to 9999.
        let dates = UnixTime.rfc3339Range
        start = min(max(first - margin, dates.lowerBound), dates.upperBound - margin)
        end = max(min(last + margin, dates.upperBound), dates.lowerBound + margin)
    }

    /// Of a key that always was, the beginning tells nothing.
    private static func moments(_ lives: [KeyLife]) -> [UnixTime] {
        lives.flatMap(\.lifecycle.knownTimes).filter { $0 > UnixTime(0) }
    }

    private static func horizonInSeconds(_ policy: RotationPolicy?) -> Int64 {
        guard let policy else { return 800 * 86_400 }
        return max(400 * 86_400, 3 * policy.rotateEveryInSeconds + policy.opensAfterRetiringInSeconds)
    }

    /// 0 at the start, 1 at the end.
    func share(_ time: UnixTime) -> Double {
        Double(time.seconds - start.seconds) / Double(end.seconds - start.seconds)
    }

    func contains(_ time: UnixTime) -> Bool { start <= time && time < end }

    /// - Parameter share: 0 to 1.
    func time(_ share: Double) -> UnixTime {
        start + Int64(share * Double(end.seconds - start.seconds))
    }
}

extension RotationPlan.Action {
    var activatesAt: UnixTime? {
        if case .add(let time) = self { time } else { nil }
    }
}
