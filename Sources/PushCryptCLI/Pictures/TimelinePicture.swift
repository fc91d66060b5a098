import PushCryptCore
import PushCryptKeysets
import PushCryptKeystore

/// The lives of a keyset's keys: a row for each over one axis of time, with the windows in which they overlap.
struct TimelinePicture {
    let timeline: Timeline
    let plot: Plot

    private static let width = 960.0
    static let left = 28.0
    static let rowHeight = 34.0
    static let barHeight = 20.0

    init(_ view: KeysetView) {
        timeline = Timeline(view)
        let rows = timeline.lives.count + (view.successor == nil ? 0 : 1) + timeline.overlaps.count
        let top = 104 + 18 * Double(Self.words(of: timeline).count)
        plot = Plot(
            Frame(left: 214, top: top, width: 566, height: Double(rows) * Self.rowHeight + 8),
            x: Double(timeline.axis.start.seconds)...Double(timeline.axis.end.seconds), y: 0...1)
    }

    var view: KeysetView { timeline.view }
    var axis: TimeAxis { timeline.axis }

    var picture: Picture {
        let name = view.path.count > 60 ? "…" + view.path.suffix(60) : view.path
        let title = "Keys of \(name) at \(view.now)"
        let words = Self.words(of: timeline)
        let head =
            [SVG.text(title, at: .init(x: Self.left, y: 42), "title")]
            + words.enumerated().map { index, line in
                SVG.text(line.text, at: .init(x: Self.left, y: 68 + 18 * Double(index)), line.style)
            }
        return Picture(
            title: title, description: words.map(\.text).joined(separator: " "), width: Self.width,
            height: plot.frame.bottom + 76, parts: head + grid + lanes + present + legend)
    }

    // MARK: Words

    private struct Line {
        let text: String
        var style = "text"
    }

    /// What the policy is and asks for.
    private static func words(of timeline: Timeline) -> [Line] {
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
            let distance = TimeDistance.words(next.dueAt, from: view.now)
            let objection = next.blockedBy == nil ? "" : ", blocked"
            lines.append(Line(text: "Next: \(next.action.words), \(next.dueAt) (\(distance))\(objection)"))
        }
        return lines + (timeline.leftOut.map { [Line(text: $0, style: "muted")] } ?? [])
    }

    private static func since(_ step: RotationPlan.Step, _ now: UnixTime) -> String {
        "\(step.action.words) (\(TimeDistance.words(step.dueAt, from: now)))"
    }

    // MARK: Time

    func across(_ time: UnixTime) -> Double { plot.x.clamped(Double(time.seconds)) }

    /// nil is what lies beyond the ends of the axis.
    func span(_ phase: KeyPhase) -> (start: Double, end: Double) {
        (phase.start.map(across) ?? plot.frame.left, phase.end.map(across) ?? plot.frame.right)
    }

    private var grid: [String] {
        let (top, bottom) = (plot.frame.top - 6, plot.frame.bottom)
        return axis.ticks(room: 8).flatMap { tick in
            let across = across(tick.time)
            return [
                SVG.line(from: .init(x: across, y: top), to: .init(x: across, y: bottom + 5), "grid"),
                SVG.text(tick.label, at: .init(x: across, y: bottom + 19), "muted", anchor: .middle),
            ]
        } + [
            SVG.line(from: .init(x: plot.frame.left, y: bottom), to: .init(x: plot.frame.right, y: bottom), "axis")
        ]
    }

    private var present: [String] {
        let (across, top) = (across(view.now), plot.frame.top - 6)
        return [
            SVG.line(from: .init(x: across, y: top), to: .init(x: across, y: plot.frame.bottom), "now"),
            SVG.text("now", at: .init(x: across, y: top - 6), "text state", anchor: .middle),
        ]
    }
}

extension [String] {
    /// Those that fit a line.
    fileprivate var few: String {
        let rest = count > 3 ? " and \(count - 3) more" : ""
        return prefix(3).joined(separator: ", ") + rest
    }
}
