import PushCryptNotifications
import PushCryptSimulator

/// Draws lock screens side by side as text.
enum ScreenText {
    private static let width = 40

    /// - Parameter screens: their titles, and what each shows; nil for an empty one.
    static func draw(_ screens: (title: String, content: NotificationContent?)...) -> String {
        let columns = screens.map { [$0.title] + lines($0.content) }
        let rows = (0..<(columns.map(\.count).max() ?? 0)).map { index in
            columns.map { pad(index < $0.count ? $0[index] : "", width + 2) }.joined(separator: "  ")
        }
        return rows.map { "  " + $0.trimmingSuffix(" ") + "\n" }.joined()
    }

    private static func lines(_ content: NotificationContent?) -> [String] {
        let rule = String(repeating: "─", count: width)
        guard let content else { return ["╭\(rule)╮", "│\(pad(" (nothing)", width))│", "╰\(rule)╯"] }
        let texts = ["Clinic", content.title.literal, content.body.literal].compactMap { $0 }.filter { !$0.isEmpty }
        return ["╭\(rule)╮"] + texts.map { "│\(pad(" " + $0, width))│" } + ["╰\(rule)╯"]
    }

    private static func pad(_ text: String, _ width: Int) -> String {
        text.count >= width ? String(text.prefix(width)) : text + String(repeating: " ", count: width - text.count)
    }
}

extension String {
    fileprivate func trimmingSuffix(_ character: Character) -> Substring {
        self[..<(lastIndex { $0 != character }.map(index(after:)) ?? startIndex)]
    }
}
