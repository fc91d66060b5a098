import PushCryptCore

/// What stands around the lanes.
extension TimelineText {
    /// Where the present is, in words before or behind the mark.
    var nowLine: String {
        let (now, full) = (column(view.now), "now \(view.now)")
        let words = [full, "now"].first { now + 2 + $0.count <= width || now > $0.count } ?? ""
        let isRight = now + 2 + words.count <= width
        let text = isRight ? "▼ " + words : words + " ▼"
        let start = isRight ? now : now - words.count - 1
        return spaces(Self.labelWidth + start) + terminal.styled(text, .heading)
    }

    var axisLines: [String] {
        var line = emptyLane("", .plain)
        var labels = emptyLane("", .plain)
        for column in 0..<width { line.put("─", .style(.faint), at: column) }
        line.put("┴", .style(.heading), at: column(view.now))
        var free = 0
        for tick in axis.ticks(room: width / (TimeAxis.labelCharacterCount + 2)) {
            let at = column(tick.time)
            let start = min(max(at - tick.label.count / 2, 0), width - tick.label.count)
            guard start >= free else { continue }
            line.put(at == column(view.now) ? "┼" : "┬", .style(.faint), at: at)
            labels.write(tick.label, .style(.faint), at: start)
            free = start + tick.label.count + 2
        }
        return [line.text(terminal), labels.text(terminal)]
    }

    /// Of what is in sight.
    var legend: [String] {
        let states = Set(view.lives.flatMap(\.phases).filter(isInSight).map(\.state))
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
