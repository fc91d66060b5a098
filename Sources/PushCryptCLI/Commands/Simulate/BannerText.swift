import PushCryptNotifications
import PushCryptSimulator

/// A notification in the terminal, framed, as wide as asked for.
struct BannerText {
    /// The system cuts a body after four lines.
    private static let bodyLineCount = 4

    let banner: LockScreen.Banner?
    var appName: String
    var attachments: [SimulatedPush.Attachment] = []

    /// The lines of the frame.
    func lines(width: Int) -> [String] {
        guard let banner else { return framed(["(nothing)"], width) }
        var rows = [String(appName.prefix(columns: width - 4)).padded(to: width - 3) + "now"]
        if banner.isTimeSensitive { rows.append("TIME SENSITIVE") }
        rows += text(banner.title, 2, width) + text(banner.subtitle, 1, width)
        rows += text(banner.body, Self.bodyLineCount, width)
        if let path = banner.attachment?.path, let file = attachments.first(where: { $0.path == path }) {
            rows.append("[\(file.type), \(file.bytes.count) bytes]")
        }
        return framed(rows, width)
    }

    private func text(_ text: String?, _ lineCount: Int, _ width: Int) -> [String] {
        guard let text else { return [] }
        let lines = TerminalText.harmless(lines: text).split(separator: "\n", omittingEmptySubsequences: false)
            .flatMap { TerminalText.wrap(String($0), width: width) }
        guard lines.count > lineCount else { return lines }
        return lines.prefix(lineCount - 1) + [String(lines[lineCount - 1].prefix(columns: width - 1)) + "…"]
    }

    private func framed(_ rows: [String], _ width: Int) -> [String] {
        let edge = String(repeating: "─", count: width + 2)
        return ["╭\(edge)╮"] + rows.map { "│ \(String($0.prefix(columns: width)).padded(to: width)) │" } + ["╰\(edge)╯"]
    }
}

extension SimulatedPush {
    /// Both notifications beside each other, and what became of the push.
    func text(_ terminal: TerminalText, appName: String, columns: Int) -> String {
        let width = min(46, (columns - 10) / 2)
        let left = BannerText(banner: before, appName: appName).lines(width: width)
        let right = BannerText(banner: after, appName: appName, attachments: attachments).lines(width: width)
        let empty = String(repeating: " ", count: width + 4)
        let rows = (0..<max(left.count, right.count)).map { row in
            (left.indices.contains(row) ? left[row] : empty) + (right.indices.contains(row) ? "  " + right[row] : "")
        }
        let mark = isRestored ? terminal.styled("✓", .good) : terminal.styled("✗", .bad)
        let notes = notes.flatMap { note in
            TerminalText.wrap(TerminalText.harmless(note.utf8), width: columns - 4).map { "  " + $0 }
        }
        let place = line == number ? "" : " (line \(line))"
        let time = duration > .zero ? ", shown after \(NumberText.decimal(duration.inSeconds, 1)) s" : ""
        let verdict = TerminalText.wrap(TerminalText.harmless(self.verdict.utf8), width: columns - 4)
        var lines = [terminal.styled("\(number).\(place) \(payload.count) of 4096 bytes\(time)", .heading)]
        lines.append("Without the extension".padded(to: width + 6) + "With the extension")
        lines += rows
        lines += verdict.enumerated().map { ($0 == 0 ? mark : " ") + " " + $1 }
        lines += notes
        return lines.map { "  " + $0 + "\n" }.joined()
    }
}
