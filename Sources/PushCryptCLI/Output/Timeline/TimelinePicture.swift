import PushCryptCore
import PushCryptKeysets

/// Draws the states of keys over time: a row for each key, and the windows in which keys overlap. The keysets of a keystore are
/// drawn under each other, with one axis.
struct TimelinePicture {
    private let title: String
    private let rows: [TimelineRows]
    /// The keysets that can't be read, and why.
    private let problems: [(path: String, reason: String)]
    private let isKeystore: Bool

    static let width = 960.0
    static let left = 28.0
    private static let firstTop = 68.0
    private static let gap = 40.0

    /// The picture of one keyset.
    init(_ view: KeysetView) {
        title = "Keys of \(Picture.shortened(view.path)) at \(view.now)"
        rows = [TimelineRows(Timeline(view), name: nil, top: Self.firstTop)]
        problems = []
        isKeystore = false
    }

    /// The picture of a keystore.
    init(_ path: String, _ views: [KeysetView], problems: [(path: String, reason: String)], at time: UnixTime) {
        title = "Keysets of \(Picture.shortened(path)) at \(time)"
        let axis = TimeAxis(views, at: time)
        var top = Self.firstTop + 10
        var rows: [TimelineRows] = []
        for view in views {
            let next = TimelineRows(Timeline(view, axis: axis), name: Picture.shortened(view.path), top: top)
            rows.append(next)
            top = next.bottom + Self.gap
        }
        (self.rows, self.problems, isKeystore) = (rows, problems, true)
    }

    var picture: Picture {
        let bottom = (rows.last?.bottom ?? Self.firstTop - Self.gap) + (isKeystore ? Self.gap : 0)
        let lost = problems.enumerated().flatMap { index, problem in
            let top = bottom + 44 * Double(index)
            return [
                SVG.text(Picture.shortened(problem.path), at: (Self.left, top), "heading"),
                SVG.text(problem.reason, at: (Self.left, top + 18), "state revoked"),
            ]
        }
        let end = bottom + 44 * Double(problems.count) + (problems.isEmpty ? 0 : 14)
        let legend = legend(top: end + (isKeystore ? 0 : 32))
        let description = rows.map(\.description) + problems.map { "\($0.path): \($0.reason)" }
        return Picture(
            title: title, description: description.joined(separator: " "), width: Self.width, height: end + 56,
            parts: [SVG.text(title, at: (Self.left, 42), "title")] + rows.flatMap(\.parts) + lost + legend)
    }

    /// What the picture has.
    private func legend(top: Double) -> [String] {
        let states = Set(rows.flatMap(\.states))
        let meanings: [(KeyState, String)] = [
            (.pending, "pending"), (.primary, "seals and opens"), (.retiring, "opens only"), (.expired, "expired"),
            (.revoked, "revoked"),
        ]
        var entries = meanings.filter { states.contains($0.0) }.map {
            (meaning: $0.1, sample: TimelineSample.state($0.0))
        }
        if rows.contains(where: \.hasDestroyed) { entries.append(("destroyed by now", .destroyed)) }
        if rows.contains(where: \.hasPlan) { entries.append(("planned", .planned)) }
        if rows.contains(where: \.hasOverlap) { entries.append(("overlap", .overlap)) }
        if rows.contains(where: \.hasLead) { entries.append(("publish lead", .lead)) }
        return Legend.row(at: (Self.left, top), entries) { $0.parts(left: $1, middle: $2) }
    }
}

/// A sample of what a timeline draws.
private enum TimelineSample {
    case state(KeyState)
    case destroyed, planned, overlap, lead

    func parts(left: Double, middle: Double) -> [String] {
        let (right, top) = (left + 18, middle - StateBar.height / 2)
        switch self {
        case .state(.revoked):
            return StateBar.parts(.revoked, from: left + 8, to: right, top: top)
                + TimelineRows.cross(at: left + 4, middle: middle)
        case .state(let state): return StateBar.parts(state, from: left, to: right, top: top)
        case .destroyed: return StateBar.parts(.primary, from: left, to: right, top: top, isFaint: true)
        case .planned:
            let frame = Frame(left: left, top: top + 1, width: 18, height: StateBar.height - 2)
            return [SVG.rectangle(frame, "line dashed primary-line", radius: 2)]
        case .overlap: return TimelineRows.bracket(from: left, to: right, y: middle, "retiring")
        case .lead: return TimelineRows.bracket(from: left, to: right, y: middle, "pending")
        }
    }
}

/// The rows of one keyset, with its name, its policy and its next steps above them.
private struct TimelineRows {
    private let timeline: Timeline
    private let name: String?
    private let top: Double
    private let plot: Plot

    private static let left = TimelinePicture.left
    private static let rowHeight = 34.0

    /// - Parameter name: nil for the only keyset of a picture, which the title names.
    init(_ timeline: Timeline, name: String?, top: Double) {
        (self.timeline, self.name, self.top) = (timeline, name, top)
        let rows = timeline.statuses.count + (timeline.view.successor == nil ? 0 : 1) + timeline.overlaps.count
        let lines = Double(Self.header(of: timeline).count + (name == nil ? 0 : 1))
        plot = Plot(
            Frame(left: 214, top: top + 36 + 18 * lines, width: 566, height: Double(rows) * Self.rowHeight + 8),
            x: Double(timeline.axis.start.seconds)...Double(timeline.axis.end.seconds), y: 0...1)
    }

    private var view: KeysetView { timeline.view }
    private var axis: TimeAxis { timeline.axis }

    /// The end of the axis' labels.
    var bottom: Double { plot.frame.bottom + 20 }

    var description: String {
        ([name].compactMap(\.self) + Self.header(of: timeline).map(\.text)).joined(separator: " ")
    }

    var parts: [String] { header + grid + lanes + present }

    /// The states that it shows, except those of destroyed keys.
    var states: [KeyState] {
        timeline.statuses.filter { $0.state != .destroyed }.flatMap { $0.phases.filter(axis.shows).map(\.state) }
    }

    var hasDestroyed: Bool { timeline.statuses.contains { $0.state == .destroyed } }
    var hasPlan: Bool { view.successor != nil }
    var hasOverlap: Bool { !timeline.overlaps.isEmpty }
    var hasLead: Bool { timeline.statuses.contains { !lead($0, 0).isEmpty } }

    private struct Line {
        let text: String
        var style = "text"
    }

    private var header: [String] {
        let heading = name.map { [Line(text: $0, style: "heading")] } ?? []
        return (heading + Self.header(of: timeline)).enumerated().map { index, line in
            SVG.text(line.text, at: (Self.left, top + 18 * Double(index)), line.style)
        }
    }

    private static func header(of timeline: Timeline) -> [Line] {
        let view = timeline.view
        let kind = "\(view.kind.rawValue) keys"
        guard let policy = view.policy, let plan = view.plan else { return [Line(text: kind, style: "muted")] }
        let lengths = [
            ("rotate every", policy.rotateEveryInSeconds), ("publish lead", policy.publishLeadInSeconds),
            ("overlap", policy.overlapInSeconds),
        ].map { "\($0) \(DurationText.human($1))" }
        let coverage = policy.requiredCoverage.map { ", \($0) of the devices" } ?? ""
        let text = "\(kind); policy: \(lengths.joined(separator: ", ")), keep \(policy.keep)\(coverage)"
        let (due, blocked) = (plan.due.map { since($0, view.now) }, plan.blocked.map { since($0, view.now) })
        var lines = [Line(text: text, style: "muted")]
        if !due.isEmpty { lines.append(Line(text: "Due: \(due.few)", style: "state retiring")) }
        if !blocked.isEmpty { lines.append(Line(text: "Blocked: \(blocked.few)", style: "state revoked")) }
        if let next = plan.next {
            let distance = TimeDistance.text(next.dueAt, from: view.now)
            let objection = next.blockedBy == nil ? "" : ", blocked"
            lines.append(Line(text: "Next: \(next.action.text), \(next.dueAt) (\(distance))\(objection)"))
        }
        return lines + (timeline.leftOut.map { [Line(text: $0, style: "muted")] } ?? [])
    }

    private static func since(_ step: RotationPlan.Step, _ now: UnixTime) -> String {
        "\(step.action.text) (\(TimeDistance.text(step.dueAt, from: now)))"
    }

    private func across(_ time: UnixTime) -> Double { plot.x.clamped(Double(time.seconds)) }

    /// A phase without a start or an end extends to the edge of the plot.
    private func span(_ phase: KeyPhase) -> (start: Double, end: Double) {
        (phase.start.map(across) ?? plot.frame.left, phase.end.map(across) ?? plot.frame.right)
    }

    private var grid: [String] {
        let (top, bottom) = (plot.frame.top - 6, plot.frame.bottom)
        return axis.ticks(room: 8).flatMap { tick in
            let across = across(tick.time)
            return [
                SVG.line(from: (across, top), to: (across, bottom + 5), "grid"),
                SVG.text(tick.label, at: (across, bottom + 19), "muted", anchor: .middle),
            ]
        } + [SVG.line(from: (plot.frame.left, bottom), to: (plot.frame.right, bottom), "axis")]
    }

    private var present: [String] {
        let (across, top) = (across(view.now), plot.frame.top - 6)
        return [
            SVG.line(from: (across, top), to: (across, plot.frame.bottom), "now"),
            SVG.text("now", at: (across, top - 6), "text state", anchor: .middle),
        ]
    }

    private var lanes: [String] {
        let count = timeline.statuses.count
        let planned = view.successor.map { lane($0.phases, row: count) } ?? []
        return windows + timeline.statuses.enumerated().flatMap { index, status in lane(status, row: index) } + planned
            + overlaps(from: count + (view.successor == nil ? 0 : 1))
    }

    private func top(_ row: Int) -> Double { plot.frame.top + 8 + Double(row) * Self.rowHeight }

    private func lane(_ status: KeyStatus, row: Int) -> [String] {
        let base = top(row) + 15
        let isGone = status.state == .destroyed
        let bars = status.phases.flatMap { bar(status.kid, $0, top(row), isGone) } + lead(status, top(row))
        return [
            SVG.text("\(status.state)", at: (Self.left, base), "state \(isGone ? "muted" : "\(status.state)")"),
            SVG.text("\(status.kid)", at: (plot.frame.left - 12, base), "text mono", anchor: .end),
        ] + bars + marks(status, top(row)) + [
            SVG.text(status.nextText ?? "", at: (plot.frame.right + 12, base), "text")
        ]
    }

    private func bar(_ kid: KeyID, _ phase: KeyPhase, _ top: Double, _ isGone: Bool) -> [String] {
        let (start, end) = span(phase)
        guard end - start > 0.3, phase.state != .destroyed else { return [] }
        let title = "key \(kid) is \(phase.state) \(period(phase))"
        return StateBar.parts(phase.state, from: start, to: end, top: top, title: title, isFaint: isGone)
            + (isGone ? [] : StateBar.label(phase.state, from: start, to: end, top: top))
    }

    private func period(_ phase: KeyPhase) -> String {
        guard let start = phase.start else { return phase.end.map { "to \($0)" } ?? "" }
        guard let end = phase.end else { return "from \(start) on" }
        return "from \(start) to \(end) (\(DurationText.human(end.seconds - start.seconds)))"
    }

    private func marks(_ status: KeyStatus, _ top: Double) -> [String] {
        status.phases.flatMap { phase -> [String] in
            guard let start = phase.start, axis.contains(start) else { return [] }
            let (x, middle) = (across(start), top + StateBar.height / 2)
            switch phase.state {
            case .revoked: return Self.cross(at: x, middle: middle)
            case .destroyed: return [SVG.line(from: (x, middle - 8), to: (x, middle + 8), "line expired-line")]
            default: return []
            }
        }
    }

    static func cross(at x: Double, middle: Double) -> [String] {
        [-6.0, 6].map { rise in
            SVG.line(from: (x - 6, middle - rise), to: (x + 6, middle + rise), "line revoked-line")
        }
    }

    private func lead(_ status: KeyStatus, _ top: Double) -> [String] {
        guard let policy = view.policy, policy.publishLeadInSeconds > 0 else { return [] }
        let lead = DurationText.human(policy.publishLeadInSeconds)
        return zip(status.phases, status.phases.dropFirst()).flatMap { pending, primary -> [String] in
            guard pending.state == .pending, primary.state == .primary, let time = primary.start, axis.contains(time)
            else { return [] }
            return Self.bracket(
                from: across(time - policy.publishLeadInSeconds), to: across(time), y: top + StateBar.height + 4,
                "pending", label: nil, title: "the policy publishes a key \(lead) before it seals")
        }
    }

    private func lane(_ phases: [KeyPhase], row: Int) -> [String] {
        let top = top(row)
        let bars = phases.map { phase in
            let (start, end) = span(phase)
            return SVG.rectangle(
                Frame(left: start + 1, top: top + 1, width: max(end - start - 2, 0), height: StateBar.height - 2),
                "line dashed \(phase.state)-line", radius: 2, title: "by the policy: \(phase.state) \(period(phase))")
        }
        return [
            SVG.text("next key", at: (plot.frame.left - 12, top + 15), "muted", anchor: .end),
            SVG.text("planned", at: (Self.left, top + 15), "muted"),
        ] + bars
    }

    /// Bands behind the bars, which extend from the key that only opens to the key that seals.
    private var windows: [String] {
        timeline.overlaps.joined().compactMap { overlap in
            let (kid, window, statuses) = (overlap.kid, overlap.window, timeline.statuses)
            let (start, end) = span(window)
            guard end > start, let row = statuses.firstIndex(where: { $0.kid == kid }),
                let other = statuses.firstIndex(where: { $0.seals(at: window.start ?? axis.start) })
            else { return nil }
            let rows = [top(row), top(other)].sorted()
            let title =
                "overlap: key \(statuses[other].kid) seals, key \(kid) opens what is on its way, \(period(window))"
            return SVG.rectangle(
                Frame(left: start, top: rows[0], width: end - start, height: rows[1] - rows[0] + StateBar.height),
                "retiring band", title: title)
        }
    }

    private func overlaps(from first: Int) -> [String] {
        timeline.overlaps.enumerated().flatMap { index, overlaps in
            let top = top(first + index)
            let label = index == 0 ? "overlap" : ""
            return [SVG.text(label, at: (plot.frame.left - 12, top + 15), "muted", anchor: .end)]
                + overlaps.flatMap { bracket($0, top) }
        }
    }

    private func bracket(_ overlap: Timeline.Overlap, _ top: Double) -> [String] {
        let (start, end) = span(overlap.window)
        guard end - start > 0.3 else { return [] }
        var length: String?
        if let start = overlap.window.start, let end = overlap.window.end {
            length = TimeDistance.rough(end.seconds - start.seconds)
        }
        let isCut = overlap.endsByRevocation && end < plot.frame.right
        return Self.bracket(
            from: start, to: end, y: top + 14, "retiring", label: length,
            isOpenAt: (start <= plot.frame.left, end >= plot.frame.right || isCut),
            title: "key \(overlap.kid) overlaps \(period(overlap.window))"
                + (overlap.endsByRevocation ? ", until it is revoked" : ""))
            + (isCut ? Self.cross(at: end, middle: top + 14) : [])
    }

    static func bracket(
        from start: Double, to end: Double, y: Double, _ style: String, label: String? = nil,
        isOpenAt open: (start: Bool, end: Bool) = (false, false), title: String? = nil
    ) -> [String] {
        let ends = [(start + 0.5, open.start), (end - 0.5, open.end)].filter { !$0.1 }
        let caps = ends.map { x, _ in SVG.line(from: (x, y - 3), to: (x, y + 3), "line \(style)-line") }
        let line = SVG.line(from: (start, y), to: (end, y), "line \(style)-line")
        let name = title.map { [SVG.element("title", [:], [SVG.escaped($0)])] } ?? []
        let drawn = SVG.element("g", [:], name + [line] + caps)
        guard let label, Double(label.count) * 6.5 + 8 < end - start else { return [drawn] }
        return [drawn, SVG.text(label, at: ((start + end) / 2, y - 5), "label", anchor: .middle)]
    }
}

extension [String] {
    fileprivate var few: String {
        let rest = count > 3 ? " and \(count - 3) more" : ""
        return prefix(3).joined(separator: ", ") + rest
    }
}
