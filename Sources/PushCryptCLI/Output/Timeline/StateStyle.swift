import PushCryptCore

/// How the terminal shows a key state: pending blue, primary green, retiring amber, expired and destroyed grey, revoked red. The
/// glyphs tell them apart without colours.
struct StateStyle {
    /// The parameters of the SGR escape sequence.
    let terminal: String
    /// The character for a period in this state.
    var glyph: Character?
    /// The mark of the time at which this state begins.
    var mark: Character?
}

extension KeyState {
    var style: StateStyle {
        switch self {
        case .pending: StateStyle(terminal: "34", glyph: "░")
        case .primary: StateStyle(terminal: "32", glyph: "█")
        case .retiring: StateStyle(terminal: "33", glyph: "▒")
        case .expired: StateStyle(terminal: "90", glyph: "·", mark: "┤")
        case .revoked: StateStyle(terminal: "31", glyph: "·", mark: "✕")
        default: StateStyle(terminal: "2;37", mark: "†")
        }
    }
}
