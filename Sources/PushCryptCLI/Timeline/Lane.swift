import PushCryptCore

/// A row of single characters, each in its ink, behind a label.
struct Lane {
    enum Ink: Hashable {
        case plain
        case state(KeyState)
        case style(TerminalText.Style)
    }

    private let label: String
    private let labelInk: Ink
    private var cells: [(character: Character, ink: Ink)]

    init(label: String, labelInk: Ink, width: Int) {
        self.label = label
        self.labelInk = labelInk
        cells = [(Character, Ink)](repeating: (" ", .plain), count: width)
    }

    mutating func put(_ character: Character, _ ink: Ink, at column: Int) {
        guard cells.indices.contains(column) else { return }
        cells[column] = (character, ink)
    }

    mutating func write(_ text: String, _ ink: Ink, at column: Int) {
        for (offset, character) in text.enumerated() { put(character, ink, at: column + offset) }
    }

    /// Without trailing spaces; neighbours of one ink share an escape sequence.
    func text(_ terminal: TerminalText) -> String {
        let end = (cells.lastIndex { $0.character != " " } ?? -1) + 1
        guard end > 0 else { return terminal.styled(String(label.reversed().drop { $0 == " " }.reversed()), labelInk) }
        var text = terminal.styled(label, labelInk)
        var rest = cells[..<end]
        while let ink = rest.first?.ink {
            let run = rest.prefix { $0.ink == ink }
            text += terminal.styled(String(run.map(\.character)), ink)
            rest = rest.dropFirst(run.count)
        }
        return text
    }
}

extension TerminalText {
    func styled(_ text: String, _ ink: Lane.Ink) -> String {
        switch ink {
        case .plain: text
        case .state(let state): styled(text, state)
        case .style(let style): styled(text, style)
        }
    }
}

extension KeyState {
    /// What a stretch of time in this state is drawn with; nil for nothing.
    var glyph: Character? {
        switch self {
        case .pending: "░"
        case .primary: "█"
        case .retiring: "▒"
        case .expired, .revoked: "·"
        default: nil
        }
    }

    /// What marks the moment when this state begins; nil for nothing.
    var mark: Character? {
        switch self {
        case .expired: "┤"
        case .revoked: "✕"
        case .destroyed: "†"
        default: nil
        }
    }
}
