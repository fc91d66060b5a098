import PushCryptCore
import PushCryptKeystore

/// The stretch of time that a timeline shows, and where its dates stand.
struct TimeAxis {
    let start: UnixTime
    let end: UnixTime

    /// From shortly before the first moment that matters to a little after the last one that is known.
    init(_ view: KeysetView) {
        let living = view.statuses.filter { $0.state != .destroyed }
        var moments = Self.moments(living)
        if moments.isEmpty { moments = Self.moments(view.statuses) }
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
    private static func moments(_ statuses: [KeyStatus]) -> [UnixTime] {
        statuses.flatMap(\.lifecycle.knownTimes).filter { $0 > UnixTime(0) }
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

/// Dates at round moments, in UTC.
extension TimeAxis {
    struct Tick: Hashable {
        let time: UnixTime
        let label: String
    }

    /// - Parameter room: how many labels fit at most.
    func ticks(room: Int) -> [Tick] {
        let longest = max(room, 2)
        for step in Step.all {
            guard (end.seconds - start.seconds) / step.lengthInSeconds < longest else { continue }
            let times = step.times(in: start..<end)
            if times.count <= longest { return times.map { Tick(time: $0, label: step.label($0)) } }
        }
        return []
    }

    /// The characters of the longest label.
    static let labelCharacterCount = 11

    private enum Step {
        case seconds(Int64)
        case months(Int64)

        private static let minutes = [1, 2, 5, 10, 15, 30].map { Step.seconds($0 * 60) }
        private static let hours = [1, 2, 3, 6, 12].map { Step.seconds($0 * 3_600) }
        private static let days = [1, 2, 7, 14].map { Step.seconds($0 * 86_400) }
        private static let years = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000].map {
            Step.months($0 * 12)
        }
        static let all = minutes + hours + days + [1, 2, 3, 6].map { Step.months($0) } + years

        /// Of months the shortest.
        var lengthInSeconds: Int64 {
            switch self {
            case .seconds(let count): count
            case .months(let count): count * 28 * 86_400
            }
        }

        func times(in range: Range<UnixTime>) -> [UnixTime] {
            switch self {
            case .seconds(let step):
                // Weeks begin on Mondays, and 1970-01-05 was one.
                let first = step % 604_800 == 0 ? Int64(4 * 86_400) : 0
                let below = (range.lowerBound.seconds - first) / step - 1
                let above = (range.upperBound.seconds - first) / step + 1
                return (below...above).map { UnixTime(first + $0 * step) }.filter(range.contains)
            case .months(let step):
                let (below, above) = (Self.month(range.lowerBound) / step - 1, Self.month(range.upperBound) / step + 1)
                return (below...above).compactMap { Self.time(month: $0 * step) }.filter(range.contains)
            }
        }

        func label(_ time: UnixTime) -> String {
            let text = "\(time)"
            guard case .seconds(..<86_400) = self else { return String(text.prefix(10)) }
            return text.dropFirst(5).prefix(5) + " " + text.dropFirst(11).prefix(5)
        }

        /// Months since the year 0.
        private static func month(_ time: UnixTime) -> Int64 {
            let parts = "\(time)".split(separator: "-")
            guard let year = parts.first.flatMap({ Int64($0) }),
                let month = parts.dropFirst().first.flatMap({ Int64($0) })
            else { return 0 }
            return year * 12 + month - 1
        }

        private static func time(month: Int64) -> UnixTime? {
            guard month >= 0 else { return nil }
            let (year, number) = (String(month / 12), String(month % 12 + 1))
            func padded(_ text: String, _ count: Int) -> String {
                String(repeating: "0", count: max(count - text.count, 0)) + text
            }
            return UnixTime(rfc3339: "\(padded(year, 4))-\(padded(number, 2))-01T00:00:00Z")
        }
    }
}
