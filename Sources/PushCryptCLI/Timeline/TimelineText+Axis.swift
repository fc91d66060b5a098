import PushCryptCore

/// What stands around the lanes.
extension TimelineText {
    /// Where the present is, in words before or behind the mark.
    var nowLine: String {
        let mark = column(now)
        let words = ["now \(now)", "now"].first { mark + 2 + $0.count <= width || mark > $0.count } ?? ""
        let isRight = mark + 2 + words.count <= width
        let text = isRight ? "▼ " + words : words + " ▼"
        let start = isRight ? mark : mark - words.count - 1
        return spaces(Self.labelWidth + start) + terminal.styled(text, .heading)
    }

    var axisLines: [String] {
        var line = emptyLane("", .plain)
        var labels = emptyLane("", .plain)
        for column in 0..<width { line.put("─", .style(.faint), at: column) }
        line.put("┴", .style(.heading), at: column(now))
        var free = 0
        for tick in axis.ticks(room: width / (TimeAxis.labelCharacterCount + 2)) {
            let at = column(tick.time)
            let start = min(max(at - tick.label.count / 2, 0), width - tick.label.count)
            guard start >= free else { continue }
            line.put(at == column(now) ? "┼" : "┬", .style(.faint), at: at)
            labels.write(tick.label, .style(.faint), at: start)
            free = start + tick.label.count + 2
        }
        return [line.text(terminal), labels.text(terminal)]
    }

    /// Of what is in sight.
    var legend: [String] {
        let phases = timeline.lives.flatMap(\.phases).filter { phase in
            phase.state == .destroyed ? phase.start.map(axis.contains) ?? false : axis.shows(phase)
        }
        let states = Set(phases.map(\.state))
        let words: [(String, KeyState, String)] = [
            ("░", .pending, "pending"), ("█", .primary, "seals and opens"), ("▒", .retiring, "opens only"),
            ("┤·", .expired, "expired"), ("✕·", .revoked, "revoked"), ("†", .destroyed, "destroyed"),
        ]
        var lines = [(text: "", count: 0)]
        for (glyphs, state, words) in words where states.contains(state) {
            let count = glyphs.count + 1 + words.count
            if lines[lines.count - 1].count + 2 + count > width { lines.append(("", 0)) }
            let gap = lines[lines.count - 1].count > 0 ? "  " : ""
            lines[lines.count - 1].text += gap + terminal.styled(glyphs, state) + " " + words
            lines[lines.count - 1].count += gap.count + count
        }
        return lines.map { spaces(Self.labelWidth) + $0.text }
    }

    private func spaces(_ count: Int) -> String { String(repeating: " ", count: count) }
}
