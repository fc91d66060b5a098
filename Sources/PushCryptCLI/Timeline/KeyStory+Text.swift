import PushCryptCore
import PushCryptKeysets
import PushCryptKeystore

/// `keys show` for people.
extension KeyStory {
    func text(_ terminal: TerminalText, width: Int) -> String {
        let page = Page(terminal: terminal, width: width)
        let title = "Key \(life.kid) of \(TerminalText.harmless(view.path.utf8)) at \(view.now)"
        let blocks = [
            [terminal.styled(title, .heading)], what(page), times(page), doing(page),
            [terminal.styled("How it came", .heading)] + origin(page),
        ]
        return blocks.map { $0.map { $0 + "\n" }.joined() }.joined(separator: "\n")
    }

    private func what(_ page: Page) -> [String] {
        page.row("state", "\(life.state)", .state(life.state)) + page.row("kind", kindWords)
            + page.row("suite", suiteWords) + page.row("psk", pskWords)
            + page.row("thumbprint", thumbprint.map { "\($0) (RFC 7638, SHA-256)" } ?? "-")
    }

    private func times(_ page: Page) -> [String] {
        let lifecycle = life.lifecycle
        let moments = [
            ("created", lifecycle.createdAt), ("activates", lifecycle.activatesAt), ("retires", lifecycle.retiresAt),
            ("expires", lifecycle.expiresAt), ("revoked", lifecycle.revokedAt), ("destroyed", lifecycle.destroyedAt),
        ]
        return moments.flatMap { name, time in
            page.row(name, time.map(far) ?? "-")
        }
    }

    /// A key that came without times always was.
    private func far(_ time: UnixTime) -> String {
        time == UnixTime(0) ? "always" : "\(time)  \(TimeDistance.words(time, from: view.now))"
    }

    private func doing(_ page: Page) -> [String] {
        let isSender = view.metadata.kind == .sender
        return page.row(isSender ? "signs" : "seals", sealsWords)
            + page.row(isSender ? "verifies" : "opens", opensWords) + page.row("next", whatNext)
    }

    private func origin(_ page: Page) -> [String] {
        var lines = [String]()
        if let flaw { lines += page.row("", "The log can't be relied on: \(flaw).", .style(.bad)) }
        guard let history else { return lines + page.row("", "There is no audit log.") }
        if history.isEmpty { lines += page.row("", "The audit log says nothing of it.") }
        for entry in history {
            let told = [entry.detail, entry.why.map { "why: \($0)" }].compactMap(\.self).joined(separator: "; ")
            lines += page.row("\(entry.at)", "\(entry.what) by \(entry.who)" + (told.isEmpty ? "" : ": \(told)"))
        }
        return lines
    }
}

/// Rows of a name and words, which are wrapped.
private struct Page {
    let terminal: TerminalText
    let width: Int

    private static let nameWidth = 12

    /// Names longer than that take two spaces behind them.
    func row(_ name: String, _ words: String, _ ink: Lane.Ink = .plain) -> [String] {
        let indent = name.isEmpty ? 2 : 2 + max(Self.nameWidth, name.count + 2)
        let rows = TerminalText.wrap(TerminalText.harmless(words.utf8), width: width - indent)
        return rows.enumerated().map { index, row in
            let label = index == 0 ? "  " + name : ""
            return label + String(repeating: " ", count: indent - label.count) + terminal.styled(row, ink)
        }
    }
}
