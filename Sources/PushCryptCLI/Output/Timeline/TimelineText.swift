import PushCryptCore

/// Draws the states of a keyset's keys over time in characters, a row for each key.
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
    let width: Int

    init(_ view: KeysetView, _ terminal: TerminalText, width: Int) {
        timeline = Timeline(view)
        self.terminal = terminal
        self.width = width - Self.labelWidth
    }

    private var axis: TimeAxis { timeline.axis }
    private var now: UnixTime { timeline.view.now }

    /// A narrower drawing has too few columns for its marks and dates.
    static let smallestWidth = 60

    private static let labelWidth = KeyID.characterCount + 2

    var lines: [String] {
        let lanes =
            [leftOut].compactMap(\.self) + timeline.statuses.map(lane) + [planned].compactMap(\.self)
            + timeline.overlaps.enumerated().map(overlap)
        return [nowLine] + lanes.map { $0.text(terminal) } + axisLines + legend
    }

    private func lane(_ status: KeyStatus) -> Lane {
        var lane = emptyLane("\(status.kid)", .state(status.state))
        fill(&lane, status.phases) { .state($0) }
        for phase in status.phases {
            guard let mark = phase.state.style.mark, let start = phase.start, axis.contains(start) else { continue }
            lane.put(mark, .state(phase.state), at: column(start))
        }
        return lane
    }

    private var leftOut: Lane? {
        guard let text = timeline.leftOut else { return nil }
        var lane = emptyLane("", .plain)
        lane.put("│", .heading, at: column(now))
        lane.write("◂ " + text, .faint, at: 0)
        return lane
    }

    private var planned: Lane? {
        guard let successor = timeline.view.successor else { return nil }
        var lane = emptyLane("(next key)", .faint)
        fill(&lane, successor.phases) { _ in .faint }
        return lane
    }

    /// Draws each character with the state in the middle of its period.
    private func fill(_ lane: inout Lane, _ phases: [KeyPhase], _ style: (KeyState) -> TerminalText.Style) {
        for column in 0..<width {
            let time = axis.time((Double(column) + 0.5) / Double(width))
            guard let state = phases.first(where: { $0.contains(time) })?.state, let glyph = state.style.glyph else {
                continue
            }
            lane.put(glyph, style(state), at: column)
        }
        lane.put("│", .heading, at: column(now))
    }

    private func overlap(_ index: Int, _ overlaps: [Timeline.Overlap]) -> Lane {
        let windows = overlaps.map(\.window)
        var lane = emptyLane(index == 0 ? "overlap" : "", .faint)
        let style = TerminalText.Style.state(.retiring)
        for window in windows {
            let (first, last) = (window.start.map(column) ?? 0, window.end.map(column) ?? width - 1)
            for column in min(first, last)...last { lane.put("─", style, at: column) }
        }
        let starts = Set(windows.compactMap(\.start).filter(axis.contains).map(column))
        let ends = Set(windows.compactMap(\.end).filter(axis.contains).map(column))
        for column in starts.union(ends) {
            lane.put(!starts.contains(column) ? "┤" : ends.contains(column) ? "┼" : "├", style, at: column)
        }
        for end in overlaps.filter(\.endsByRevocation).compactMap(\.window.end) where axis.contains(end) {
            lane.put("✕", .state(.revoked), at: column(end))
        }
        lane.put(windows.contains { $0.contains(now) } ? "┼" : "│", .heading, at: column(now))
        return lane
    }

    private func emptyLane(_ label: String, _ style: TerminalText.Style) -> Lane {
        Lane(label: label.padded(to: Self.labelWidth), labelStyle: style, width: width)
    }

    private func column(_ time: UnixTime) -> Int {
        min(max(Int((axis.share(time) * Double(width)).rounded(.down)), 0), width - 1)
    }

    private var nowLine: String {
        let mark = column(now)
        let labels = ["now \(now)", "now"]
        let label = labels.first { mark + 2 + $0.count <= width || mark > $0.count } ?? ""
        let isRight = mark + 2 + label.count <= width
        let text = isRight ? "▼ " + label : label + " ▼"
        let start = isRight ? mark : mark - label.count - 1
        return spaces(Self.labelWidth + start) + terminal.styled(text, .heading)
    }

    private var axisLines: [String] {
        var line = emptyLane("", .plain)
        var labels = emptyLane("", .plain)
        for column in 0..<width { line.put("─", .faint, at: column) }
        line.put("┴", .heading, at: column(now))
        var free = 0
        for tick in axis.ticks(room: width / (TimeAxis.labelCharacterCount + 2)) {
            let at = column(tick.time)
            let start = min(max(at - tick.label.count / 2, 0), width - tick.label.count)
            guard start >= free else { continue }
            line.put(at == column(now) ? "┼" : "┬", .faint, at: at)
            labels.write(tick.label, .faint, at: start)
            free = start + tick.label.count + 2
        }
        return [line.text(terminal), labels.text(terminal)]
    }

    private var legend: [String] {
        let phases = timeline.statuses.flatMap(\.phases).filter { phase in
            phase.state == .destroyed ? phase.start.map(axis.contains) ?? false : axis.shows(phase)
        }
        let states = Set(phases.map(\.state))
        let entries: [(String, KeyState, String)] = [
            ("░", .pending, "pending"), ("█", .primary, "seals and opens"), ("▒", .retiring, "opens only"),
            ("┤·", .expired, "expired"), ("✕·", .revoked, "revoked"), ("†", .destroyed, "destroyed"),
        ]
        var lines = [(text: "", count: 0)]
        for (glyphs, state, meaning) in entries where states.contains(state) {
            let count = glyphs.count + 1 + meaning.count
            if lines[lines.count - 1].count + 2 + count > width { lines.append(("", 0)) }
            let gap = lines[lines.count - 1].count > 0 ? "  " : ""
            lines[lines.count - 1].text += gap + terminal.styled(glyphs, .state(state)) + " " + meaning
            lines[lines.count - 1].count += gap.count + count
        }
        return lines.map { spaces(Self.labelWidth) + $0.text }
    }

    private func spaces(_ count: Int) -> String { String(repeating: " ", count: count) }
}

/// A label and a row of characters with their colours.
struct Lane {
    private let label: String
    private let labelStyle: TerminalText.Style
    private var cells: [(character: Character, style: TerminalText.Style)]

    init(label: String, labelStyle: TerminalText.Style, width: Int) {
        self.label = label
        self.labelStyle = labelStyle
        cells = [(Character, TerminalText.Style)](repeating: (" ", .plain), count: width)
    }

    mutating func put(_ character: Character, _ style: TerminalText.Style, at column: Int) {
        guard cells.indices.contains(column) else { return }
        cells[column] = (character, style)
    }

    mutating func write(_ text: String, _ style: TerminalText.Style, at column: Int) {
        for (offset, character) in text.enumerated() { put(character, style, at: column + offset) }
    }

    /// The row without trailing spaces. Adjacent characters of one colour share an escape sequence.
    func text(_ terminal: TerminalText) -> String {
        let end = (cells.lastIndex { $0.character != " " } ?? -1) + 1
        guard end > 0 else {
            return terminal.styled(String(label.reversed().drop { $0 == " " }.reversed()), labelStyle)
        }
        var text = terminal.styled(label, labelStyle)
        var rest = cells[..<end]
        while let style = rest.first?.style {
            let run = rest.prefix { $0.style == style }
            text += terminal.styled(String(run.map(\.character)), style)
            rest = rest.dropFirst(run.count)
        }
        return text
    }
}
