import PushCryptCore
import PushCryptKeystore

/// The lives of a keyset's keys drawn in characters, a row for each key over one axis of time.
///
/// ```
///                                   ▼ now 2026-03-01T09:00:00Z
/// AAAAAAAAAAA  ░░██████████████▒▒▒▒▒│▒▒▒▒┤···
/// BBBBBBBBBBB              ░░░░█████│███████████
/// overlap                      ├────┼────┤
///              ──┬──────────────────┴─────┬─────
///            2026-01-01              2026-04-01
/// ```
struct TimelineText {
    let timeline: Timeline
    let terminal: TerminalText
    /// Of the lanes, without their labels.
    let width: Int

    init(_ view: KeysetView, _ terminal: TerminalText, width: Int) {
        timeline = Timeline(view)
        self.terminal = terminal
        self.width = width - Self.labelWidth
    }

    var axis: TimeAxis { timeline.axis }
    var now: UnixTime { timeline.view.now }

    static let labelWidth = KeyID.characterCount + 2

    var lines: [String] {
        let lanes =
            [leftOut].compactMap(\.self) + timeline.lives.map(lane) + [planned].compactMap(\.self)
            + timeline.overlaps.enumerated().map(overlap)
        return [nowLine] + lanes.map { $0.text(terminal) } + axisLines + legend
    }

    private func lane(_ life: KeyLife) -> Lane {
        var lane = emptyLane("\(life.kid)", .state(life.state))
        fill(&lane, life.phases) { .state($0) }
        for phase in life.phases {
            guard let mark = phase.state.mark, let start = phase.start, axis.contains(start) else { continue }
            lane.put(mark, .state(phase.state), at: column(start))
        }
        return lane
    }

    private var leftOut: Lane? {
        guard let words = timeline.leftOut else { return nil }
        var lane = emptyLane("", .plain)
        lane.put("│", .style(.heading), at: column(now))
        lane.write("◂ " + words, .style(.faint), at: 0)
        return lane
    }

    private var planned: Lane? {
        guard let successor = timeline.view.successor else { return nil }
        var lane = emptyLane("(next key)", .style(.faint))
        fill(&lane, successor.phases) { _ in .style(.faint) }
        return lane
    }

    /// What holds in the middle of each character.
    private func fill(_ lane: inout Lane, _ phases: [KeyPhase], _ ink: (KeyState) -> Lane.Ink) {
        for column in 0..<width {
            let time = axis.time((Double(column) + 0.5) / Double(width))
            guard let state = phases.first(where: { $0.contains(time) })?.state, let glyph = state.glyph else {
                continue
            }
            lane.put(glyph, ink(state), at: column)
        }
        lane.put("│", .style(.heading), at: column(now))
    }

    /// A row of windows.
    private func overlap(_ index: Int, _ overlaps: [Timeline.Overlap]) -> Lane {
        let windows = overlaps.map(\.window)
        var lane = emptyLane(index == 0 ? "overlap" : "", .style(.faint))
        let ink = Lane.Ink.state(.retiring)
        for window in windows {
            let (first, last) = (window.start.map(column) ?? 0, window.end.map(column) ?? width - 1)
            for column in min(first, last)...last { lane.put("─", ink, at: column) }
        }
        let starts = Set(windows.compactMap(\.start).filter(axis.contains).map(column))
        let ends = Set(windows.compactMap(\.end).filter(axis.contains).map(column))
        for column in starts.union(ends) {
            lane.put(!starts.contains(column) ? "┤" : ends.contains(column) ? "┼" : "├", ink, at: column)
        }
        lane.put(windows.contains { $0.contains(now) } ? "┼" : "│", .style(.heading), at: column(now))
        return lane
    }

    func emptyLane(_ label: String, _ ink: Lane.Ink) -> Lane {
        Lane(label: label.padded(to: Self.labelWidth), labelInk: ink, width: width)
    }

    func column(_ time: UnixTime) -> Int {
        min(max(Int((axis.share(time) * Double(width)).rounded(.down)), 0), width - 1)
    }
}
