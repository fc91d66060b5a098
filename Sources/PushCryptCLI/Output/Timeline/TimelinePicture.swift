import PushCryptCore
import PushCryptKeysets

/// Draws the states of a keyset's keys over time: a row for each key, and the windows in which keys overlap.
struct TimelinePicture {
    private let timeline: Timeline
    private let plot: Plot

    private static let width = 960.0
    private static let left = 28.0
    private static let rowHeight = 34.0
    private static let barHeight = 20.0

    init(_ view: KeysetView) {
        timeline = Timeline(view)
        let rows = timeline.statuses.count + (view.successor == nil ? 0 : 1) + timeline.overlaps.count
        let top = 104 + 18 * Double(Self.header(of: timeline).count)
        plot = Plot(
            Frame(left: 214, top: top, width: 566, height: Double(rows) * Self.rowHeight + 8),
            x: Double(timeline.axis.start.seconds)...Double(timeline.axis.end.seconds), y: 0...1)
    }

    private var view: KeysetView { timeline.view }
    private var axis: TimeAxis { timeline.axis }

    var picture: Picture {
        let title = "Keys of \(Picture.shortened(view.path)) at \(view.now)"
        let header = Self.header(of: timeline)
        let head =
            [SVG.text(title, at: (Self.left, 42), "title")]
            + header.enumerated().map { index, line in
                SVG.text(line.text, at: (Self.left, 68 + 18 * Double(index)), line.style)
            }
        return Picture(
            title: title, description: header.map(\.text).joined(separator: " "), width: Self.width,
            height: plot.frame.bottom + 76, parts: head + grid + lanes + present + legend)
    }

    private struct Line {
        let text: String
        var style = "text"
    }

    private static func header(of timeline: Timeline) -> [Line] {
        let view = timeline.view
        let kind = "\(view.metadata.kind.rawValue) keys"
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
        let bars = status.phases.flatMap { bar(status.kid, $0, top(row)) } + lead(status, top(row))
        return [
            SVG.text("\(status.state)", at: (Self.left, base), "state \(isGone ? "muted" : "\(status.state)")"),
            SVG.text("\(status.kid)", at: (plot.frame.left - 12, base), "text mono", anchor: .end),
            isGone ? faded(bars) : bars.joined(),
        ] + marks(status, top(row)) + [SVG.text(status.nextText ?? "", at: (plot.frame.right + 12, base), "text")]
    }

    private func faded(_ parts: [String]) -> String { SVG.element("g", ["opacity": "0.45"], parts) }

    private func bar(_ kid: KeyID, _ phase: KeyPhase, _ top: Double) -> [String] {
        let (start, end) = span(phase)
        guard end - start > 0.3, phase.state != .destroyed else { return [] }
        let title = "key \(kid) is \(phase.state) \(period(phase))"
        guard phase.state.opens else {
            let frame = Frame(left: start, top: top + 8, width: end - start, height: 4)
            return [SVG.rectangle(frame, "\(phase.state)", radius: 2, title: title)]
        }
        let frame = Frame(left: start, top: top, width: end - start, height: Self.barHeight)
        let bar = SVG.rectangle(frame, "\(phase.state)", radius: 2, title: title)
        guard end - start > 60 else { return [bar] }
        return [bar, SVG.text("\(phase.state)", at: (start + 7, top + 14), "on-state")]
    }

    private func period(_ phase: KeyPhase) -> String {
        guard let start = phase.start else { return phase.end.map { "to \($0)" } ?? "" }
        guard let end = phase.end else { return "from \(start) on" }
        return "from \(start) to \(end) (\(DurationText.human(end.seconds - start.seconds)))"
    }

    private func marks(_ status: KeyStatus, _ top: Double) -> [String] {
        status.phases.flatMap { phase -> [String] in
            guard let start = phase.start, axis.contains(start) else { return [] }
            let (x, middle) = (across(start), top + Self.barHeight / 2)
            switch phase.state {
            case .revoked:
                return [-6.0, 6].map { rise in
                    SVG.line(from: (x - 6, middle - rise), to: (x + 6, middle + rise), "line revoked-line")
                }
            case .destroyed: return [SVG.line(from: (x, middle - 8), to: (x, middle + 8), "line expired-line")]
            default: return []
            }
        }
    }

    private func lead(_ status: KeyStatus, _ top: Double) -> [String] {
        guard let policy = view.policy, policy.publishLeadInSeconds > 0 else { return [] }
        let lead = DurationText.human(policy.publishLeadInSeconds)
        return zip(status.phases, status.phases.dropFirst()).flatMap { pending, primary -> [String] in
            guard pending.state == .pending, primary.state == .primary, let time = primary.start, axis.contains(time)
            else { return [] }
            return bracket(
                from: across(time - policy.publishLeadInSeconds), to: across(time), y: top + Self.barHeight + 4,
                "pending", label: nil, title: "the policy publishes a key \(lead) before it seals")
        }
    }

    private func lane(_ phases: [KeyPhase], row: Int) -> [String] {
        let top = top(row)
        let bars = phases.map { phase in
            let (start, end) = span(phase)
            return SVG.rectangle(
                Frame(left: start + 1, top: top + 1, width: max(end - start - 2, 0), height: Self.barHeight - 2),
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
                Frame(left: start, top: rows[0], width: end - start, height: rows[1] - rows[0] + Self.barHeight),
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
        return bracket(
            from: start, to: end, y: top + 14, "retiring", label: length,
            isOpenAt: (start <= plot.frame.left, end >= plot.frame.right),
            title: "key \(overlap.kid) overlaps \(period(overlap.window))")
    }

    private func bracket(
        from start: Double, to end: Double, y: Double, _ style: String, label: String?,
        isOpenAt open: (start: Bool, end: Bool) = (false, false), title: String
    ) -> [String] {
        let ends = [(start + 0.5, open.start), (end - 0.5, open.end)].filter { !$0.1 }
        let caps = ends.map { x, _ in SVG.line(from: (x, y - 3), to: (x, y + 3), "line \(style)-line") }
        let line = SVG.line(from: (start, y), to: (end, y), "line \(style)-line")
        let drawn = SVG.element("g", [:], [SVG.element("title", [:], [SVG.escaped(title)]), line] + caps)
        guard let label, Double(label.count) * 6.5 + 8 < end - start else { return [drawn] }
        return [drawn, SVG.text(label, at: ((start + end) / 2, y - 5), "label", anchor: .middle)]
    }

    private var legend: [String] {
        let y = plot.frame.bottom + 52
        var parts = Legend.parts(
            at: (Self.left, y), .area,
            [
                "pending": "pending", "primary": "seals and opens", "retiring": "opens only",
                "expired": "expired, not destroyed", "revoked": "revoked",
            ])
        parts.append(faded([SVG.rectangle(Frame(left: 629, top: y - 10, width: 12, height: 12), "primary", radius: 2)]))
        parts.append(SVG.text("destroyed by now", at: (649, y), "label"))
        let x = 774.0
        if view.policy != nil {
            parts += bracket(from: x, to: x + 18, y: y - 4, "pending", label: nil, title: "publish lead")
            parts.append(SVG.text("publish lead", at: (x + 24, y), "label"))
        }
        return parts
    }
}

extension [String] {
    fileprivate var few: String {
        let rest = count > 3 ? " and \(count - 3) more" : ""
        return prefix(3).joined(separator: ", ") + rest
    }
}
