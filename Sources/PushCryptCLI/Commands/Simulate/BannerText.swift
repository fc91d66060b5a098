import PushCryptExtension
import PushCryptSimulator

/// A notification in the terminal, framed, as wide as asked for.
struct BannerText {
    /// Narrower terminals break the lines.
    static let smallestWidth = 24
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
            let others = attachments.count > 1 ? ", \(attachments.count - 1) more" : ""
            rows.append("[\(file.type), \(NumberText.grouped(file.bytes.count)) bytes\(others)]")
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
    /// What the phone does beside the text: its badge and its sound.
    private var effects: String {
        let badge = badge.map { $0 == 0 ? ", badge removed" : ", badge \($0)" } ?? ""
        return badge + (sound.map { ", sound \($0.name)" } ?? "")
    }

    /// Both notifications beside each other, and what became of the push.
    func text(_ terminal: TerminalText, appName: String, columns: Int) -> String {
        let isStacked = columns < 70
        let width = min(46, isStacked ? columns - 6 : (columns - 10) / 2)
        let left = BannerText(banner: before, appName: appName).lines(width: width)
        let right = BannerText(banner: after, appName: appName, attachments: attachments).lines(width: width)
        let empty = String(repeating: " ", count: width + 4)
        let (without, with) = ("Without the extension", "With the extension")
        let rows =
            isStacked
            ? [without] + left + [with] + right
            : [without.padded(to: width + 6) + with]
                + (0..<max(left.count, right.count)).map { row in
                    (left.indices.contains(row) ? left[row] : empty)
                        + (right.indices.contains(row) ? "  " + right[row] : "")
                }
        let mark = isComplete ? terminal.styled("✓", .good) : terminal.styled("✗", .bad)
        let notes = shownNotes.flatMap { note in
            TerminalText.wrap(TerminalText.harmless(note.utf8), width: columns - 4).map { "  " + $0 }
        }
        let place = line == number ? "" : " (line \(line))"
        let verdict = TerminalText.wrap(TerminalText.harmless(self.verdict.utf8), width: columns - 4)
        let heading = "\(number).\(place) \(payload.count) of 4096 bytes\(effects)"
        var lines = TerminalText.wrap(TerminalText.harmless(heading.utf8), width: columns - 2)
            .map { terminal.styled($0, .heading) }
        lines += rows
        lines += verdict.enumerated().map { ($0 == 0 ? mark : " ") + " " + $1 }
        lines += notes
        return lines.map { "  " + $0 + "\n" }.joined()
    }
}
