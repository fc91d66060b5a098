import PushCryptCore
import PushCryptFiles

/// Colours are used only on a terminal and without NO_COLOR. Text from outside must pass through `harmless`: its control
/// characters could change the terminal's state.
struct TerminalText {
    let isColourful: Bool

    /// The parameters of an SGR escape sequence.
    struct Style: Hashable {
        let parameters: String

        static let plain = Style(parameters: "")
        static let heading = Style(parameters: "1")
        static let faint = Style(parameters: "2")
        static let good = Style(parameters: "32")
        static let warning = Style(parameters: "93")
        static let bad = Style(parameters: "31")
        static let due = Style(parameters: "1;33")
        static let placeholder = Style(parameters: "33")
        static let envelope = Style(parameters: "34")
        static let ciphertext = Style(parameters: "35")
        static let padding = Style(parameters: "36")

        static func state(_ state: KeyState) -> Style { Style(parameters: state.style.terminal) }
    }

    func styled(_ text: String, _ style: Style) -> String {
        isColourful && style != .plain ? "\u{1b}[\(style.parameters)m\(text)\u{1b}[0m" : text
    }

    /// The label, and beside it the text in lines of one style. Control characters of the text are replaced.
    func wrapped(_ label: String, _ text: String, indent: Int, width: Int, _ style: Style = .plain) -> [String] {
        Self.wrap(Self.harmless(text.utf8), width: width - indent).enumerated().map { index, line in
            (index == 0 ? label : String(repeating: " ", count: indent)) + styled(line, style)
        }
    }

    /// Advice below a finding. A command stays in one line, so that it can be pasted.
    func advice(_ text: String, indent: Int) -> [String] {
        let isCommand = Self.commands.contains { text.hasPrefix($0 + " ") }
        return wrapped(
            String(repeating: " ", count: indent), text, indent: indent,
            width: isCommand ? .max : StandardStreams.wrappingColumns)
    }

    private static let commands = ["pushcrypt", "rm", "mv", "touch", "chmod", "chown", "date"]

    func label(_ text: String, _ style: Style, width: Int) -> String {
        styled(text, style) + String(repeating: " ", count: max(width - text.columnCount, 0))
    }

    /// The text with every control character except newlines replaced.
    static func harmless(lines text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { harmless($0.utf8) }.joined(separator: "\n")
    }

    /// Format characters that are kept. They join or separate letters and emoji, mark a direction or a place to break a word, and
    /// change nothing else on a terminal. Others, such as the overrides of the direction, could make a text look like another one.
    private static let harmlessFormats: Set<Unicode.Scalar> = [
        "\u{ad}", "\u{200c}", "\u{200d}", "\u{200e}", "\u{200f}",
    ]

    /// The text with every control character, and every format character that isn't harmless, replaced by U+FFFD.
    static func harmless(_ bytes: some Sequence<UInt8>) -> String {
        let scalars = String(decoding: Array(bytes), as: UTF8.self).unicodeScalars.map { scalar -> Unicode.Scalar in
            scalar.isControlOrFormat && !harmlessFormats.contains(scalar) ? "\u{fffd}" : scalar
        }
        var text = ""
        text.unicodeScalars.append(contentsOf: scalars)
        return text
    }

    /// Wraps the lines of a message. A line that is indented by five columns or more is a command to paste, which isn't wrapped.
    static func wrap(lines text: String, width: Int) -> String {
        guard width < .max else { return text }
        return text.split(separator: "\n", omittingEmptySubsequences: false).flatMap { line -> [String] in
            let indent = String(line.prefix { $0 == " " })
            guard indent.count < 5, line.columnCount > width else { return [String(line)] }
            let rows = wrap(String(line.dropFirst(indent.count)), width: width - indent.count - 2)
            return rows.enumerated().map { index, row in indent + (index == 0 ? "" : "  ") + row }
        }.joined(separator: "\n")
    }

    /// The text as the locale can show it: with ASCII instead of the characters that this tool draws in the locales C and POSIX.
    static func inLocale(_ text: String) -> String { isInASCII ? ascii(text) : text }

    private static let isInASCII: Bool = {
        let value = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { ProcessEnvironment.variable($0) }
            .first { !$0.isEmpty }
        return value == "C" || value == "POSIX"
    }()

    private static let drawn: [Character: String] = [
        "─": "-", "│": "|", "╭": "+", "╮": "+", "╰": "+", "╯": "+", "├": "+", "┤": "+", "┼": "+", "┬": "+", "┴": "+",
        "█": "#", "▓": "%", "▒": "=", "░": ":", "▉": "#", "▊": "#", "▋": "#", "▌": "#", "▍": "#", "▎": "#", "▏": "#",
        "▼": "v", "▶": ">", "◂": "<", "·": ".", "✓": "+", "✗": "x", "✕": "x", "†": "+", "…": "...",
    ]

    static func ascii(_ text: String) -> String {
        text.utf8.allSatisfy { $0 < 0x80 } ? text : text.map { drawn[$0] ?? String($0) }.joined()
    }

    /// `lines` in a rounded frame that looks like a notification.
    static func framed(_ lines: [String], width: Int = 46) -> String {
        let rows = lines.flatMap { wrap($0, width: width) }
        let edge = String(repeating: "─", count: width + 2)
        let body = rows.map { row in "  │ \(row.padded(to: width)) │" }
        return (["  ╭\(edge)╮"] + body + ["  ╰\(edge)╯"]).joined(separator: "\n")
    }

    /// A command between backticks stays in one line, even if it is too long, so that it can be pasted.
    static func wrap(_ text: String, width: Int) -> [String] {
        var rows = [""]
        for (word, isCommand) in words(of: text) {
            var word = word
            while !isCommand, word.columnCount > width {
                if rows[rows.count - 1].isEmpty { rows.removeLast() }
                let start = word.prefix(columns: width)
                rows.append(String(start))
                word = word[start.endIndex...]
                rows.append("")
            }
            let last = rows[rows.count - 1]
            if last.isEmpty {
                rows[rows.count - 1] = String(word)
            } else if last.columnCount + 1 + word.columnCount <= width {
                rows[rows.count - 1] += " " + word
            } else {
                rows.append(String(word))
            }
        }
        return rows.count > 1 && rows.last == "" ? rows.dropLast() : rows
    }

    /// The words of a text, of which each command between backticks is one.
    private static func words(of text: String) -> [(text: Substring, isCommand: Bool)] {
        var words = [(text: Substring, isCommand: Bool)]()
        var rest = text.split(separator: " ", omittingEmptySubsequences: false)[...]
        while let word = rest.popFirst() {
            let begins = commands.contains { word.hasSuffix("`" + $0) }
            if begins, let end = rest.firstIndex(where: { $0.contains("`") }) {
                words.append((text[word.startIndex..<rest[end].endIndex], true))
                rest = rest[(end + 1)...]
            } else {
                words.append((word, false))
            }
        }
        return words
    }
}
