import PushCryptCore

extension TerminalText {
    /// Text in the colour of a key's state.
    func styled(_ text: String, _ state: KeyState) -> String {
        guard isColourful else { return text }
        let codes = ["34", "32", "33", "90", "31", "2;37"]
        return "\u{1b}[\(codes[state.rank])m\(text)\u{1b}[0m"
    }
}
