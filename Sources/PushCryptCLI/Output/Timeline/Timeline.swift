import PushCryptCore
import PushCryptKeystore

/// The keys, the overlaps and the time axis of a drawing.
struct Timeline {
    let view: KeysetView
    let axis: TimeAxis
    /// In the order of the keyset, without keys that were destroyed before the axis begins.
    let statuses: [KeyStatus]
    /// The windows in which a retired key opens while another one seals, in rows without overlapping windows.
    let overlaps: [[Overlap]]

    struct Overlap {
        let window: KeyPhase
        /// Whether the retired key was revoked before the overlap was over.
        let endsByRevocation: Bool

        init(_ status: KeyStatus, _ window: KeyPhase) {
            self.window = window
            endsByRevocation =
                window.end != nil
                && status.phases.contains { $0.state == .revoked && $0.start == window.end }
        }
    }

    init(_ view: KeysetView) {
        let axis = TimeAxis(view)
        self.view = view
        self.axis = axis
        statuses = view.statuses.filter { status in
            status.phases.contains { $0.state != .destroyed && axis.shows($0) }
        }
        overlaps = Self.rows(
            statuses.flatMap { status in
                status.phases.filter { $0.state == .retiring && axis.shows($0) }.map { Overlap(status, $0) }
            })
    }

    var leftOut: String? {
        let count = view.statuses.count { !$0.key.isLost } - statuses.count
        return count > 0 ? NumberText.counted(count, "key") + " destroyed earlier" : nil
    }

    /// Puts each window into the first row that is free from its start on.
    private static func rows(_ overlaps: [Overlap]) -> [[Overlap]] {
        let always = UnixTime(.min)
        var rows = [[Overlap]]()
        for overlap in overlaps.sorted(by: { $0.window.start ?? always < $1.window.start ?? always }) {
            let free = rows.firstIndex { row in
                guard let end = row.last?.window.end, let start = overlap.window.start else { return false }
                return end <= start
            }
            if let free { rows[free].append(overlap) } else { rows.append([overlap]) }
        }
        return rows
    }
}

/// The period that a timeline shows, and its ticks.
struct TimeAxis {
    let start: UnixTime
    let end: UnixTime

    /// A period from shortly before the first relevant time to shortly after the last known time.
    init(_ view: KeysetView) {
        var moments = Self.moments(view.remaining)
        if moments.isEmpty { moments = Self.moments(view.statuses) }
        if let plan = view.plan {
            moments += [plan.next?.dueAt].compactMap(\.self)
            moments += (plan.due + plan.blocked + [plan.next].compactMap(\.self)).compactMap(\.action.activatesAt)
        }
        if moments.isEmpty { moments = [view.now - 30 * 86_400, view.now + 30 * 86_400] }
        self.init(of: moments + [view.now], around: view.now, horizonInSeconds: Self.horizonInSeconds(view.policy))
    }

    /// - Parameter horizonInSeconds: times farther from `now` don't extend the axis.
    init(of moments: [UnixTime], around now: UnixTime, horizonInSeconds: Int64) {
        let first = max(moments.min() ?? now, now - horizonInSeconds)
        let last = min(moments.max() ?? now, now + horizonInSeconds)
        let margin = max((last.seconds - first.seconds) / 40, 60)
        // RFC 3339 has the years 0 to 9999.
        let dates = UnixTime.rfc3339Range
        start = min(max(first - margin, dates.lowerBound), dates.upperBound - margin)
        end = max(min(last + margin, dates.upperBound), dates.lowerBound + margin)
    }

    /// Without the time 0, which means an unknown start.
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

    func shows(_ phase: KeyPhase) -> Bool { (phase.start ?? start) < end && (phase.end ?? end) > start }

    func contains(_ time: UnixTime) -> Bool { start <= time && time < end }

    func time(_ share: Double) -> UnixTime { start + Int64(share * Double(end.seconds - start.seconds)) }

    typealias Tick = (time: UnixTime, label: String)

    /// Ticks at round times in UTC.
    ///
    /// - Parameter room: the maximum number of labels.
    func ticks(room: Int) -> [Tick] {
        let longest = max(room, 2)
        for step in Step.all {
            guard (end.seconds - start.seconds) / step.lengthInSeconds < longest else { continue }
            let times = step.times(in: start..<end)
            if times.count <= longest { return times.map { ($0, step.label($0)) } }
        }
        return []
    }

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

        /// A month counts as 28 days.
        var lengthInSeconds: Int64 {
            switch self {
            case .seconds(let count): count
            case .months(let count): count * 28 * 86_400
            }
        }

        func times(in range: Range<UnixTime>) -> [UnixTime] {
            switch self {
            case .seconds(let step):
                // Weeks begin on Mondays; 1970-01-05 was a Monday.
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
            let text = "\(time)"
            return (Int64(text.prefix(4)) ?? 0) * 12 + (Int64(text.dropFirst(5).prefix(2)) ?? 1) - 1
        }

        private static func time(month: Int64) -> UnixTime? {
            guard month >= 0 else { return nil }
            let (year, number) = (
                String(month / 12).leftPadded(to: 4, "0"), String(month % 12 + 1).leftPadded(to: 2, "0")
            )
            return UnixTime(rfc3339: "\(year)-\(number)-01T00:00:00Z")
        }
    }
}

extension RotationPlan.Action {
    var activatesAt: UnixTime? {
        if case .add(let time) = self { time } else { nil }
    }
}
