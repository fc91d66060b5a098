import PushCryptCore

/// The colours of key states, the same in every picture and on the terminal: pending blue, primary green, retiring
/// amber, expired grey, revoked red, destroyed light grey.
struct StateColour {
    let state: KeyState
    /// As in `#1a7f37`, on a white ground.
    let light: String
    /// On a dark ground.
    let dark: String
    /// Parameters of the terminal's SGR sequence.
    let terminal: String

    static let all = [
        StateColour(state: .pending, light: "#0969da", dark: "#58a6ff", terminal: "34"),
        StateColour(state: .primary, light: "#1a7f37", dark: "#3fb950", terminal: "32"),
        StateColour(state: .retiring, light: "#9a6700", dark: "#d29922", terminal: "33"),
        StateColour(state: .expired, light: "#6e7781", dark: "#8b949e", terminal: "90"),
        StateColour(state: .revoked, light: "#cf222e", dark: "#ff7b72", terminal: "31"),
        StateColour(state: .destroyed, light: "#c4ccd4", dark: "#484f58", terminal: "2;37"),
    ]

    static func of(_ state: KeyState) -> StateColour { all[state.rank] }
}

extension TerminalText {
    func styled(_ text: String, _ state: KeyState) -> String {
        isColourful ? "\u{1b}[\(StateColour.of(state).terminal)m\(text)\u{1b}[0m" : text
    }
}
