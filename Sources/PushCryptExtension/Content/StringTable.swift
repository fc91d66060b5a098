/// The app's Localizable.strings in the user's language.
public protocol StringTable: Sendable {
    /// Returns the text of a key; nil if the app doesn't have the key.
    func string(for key: String) -> String?
}

extension [String: String]: StringTable {
    /// Returns the value of the key.
    public func string(for key: String) -> String? { self[key] }
}

extension NotificationContent {
    /// Replaces each key by its localised text with the arguments inserted.
    ///
    /// If the table doesn't have the key, the result is the literal text, or the key itself if there is none, as in the
    /// system. If the localised text with its arguments is empty, the result is the literal text, or empty if there is
    /// none.
    public func localized(by table: any StringTable) -> NotificationContent {
        var content = self
        content.title = title.localized(by: table)
        content.subtitle = subtitle.localized(by: table)
        content.body = body.localized(by: table)
        return content
    }
}

extension NotificationContent.Text {
    private var visibleLiteral: String? { literal.flatMap { $0.isVisible ? $0 : nil } }

    fileprivate func localized(by table: any StringTable) -> Self {
        guard let locKey, !locKey.isEmpty else { return self }
        guard let format = table.string(for: locKey) else { return Self(literal: visibleLiteral ?? locKey) }
        let text = StringFormat.text(format, locArguments)
        return Self(literal: text.isVisible ? text : visibleLiteral)
    }
}

/// Inserts arguments, which are all strings, into a localised text.
///
/// ```
/// format    = *( "%%" / argument / other )
/// argument  = "%" [ 1*DIGIT "$" ] "@"
/// ```
/// Other text after `%` stays unchanged, and a missing argument is empty: a format from a strings file can't be trusted
/// to match the arguments.
enum StringFormat {
    static func text(_ format: String, _ arguments: [String]) -> String {
        var text = ""
        var rest = format[...]
        var next = 1
        while let percent = rest.firstIndex(of: "%") {
            text += rest[..<percent]
            rest = rest[percent...]
            if let (number, end) = argument(at: rest, next: next) {
                if arguments.indices.contains(number - 1) { text += arguments[number - 1] }
                if rest[..<end].count == 2 { next += 1 }
                rest = rest[end...]
            } else {
                text.append("%")
                rest = rest.dropFirst(rest.hasPrefix("%%") ? 2 : 1)
            }
        }
        return text + rest
    }

    /// - Returns: the argument's number, counted from 1, and the end of the specifier.
    private static func argument(at text: Substring, next: Int) -> (number: Int, end: Substring.Index)? {
        let digits = text.dropFirst().prefix { $0.isASCII && $0.isNumber }
        let rest = text[digits.endIndex...]
        if digits.isEmpty, rest.first == "@" { return (next, rest.index(after: rest.startIndex)) }
        guard !digits.isEmpty, rest.hasPrefix("$@"), let number = Int(digits) else { return nil }
        return (number, rest.index(rest.startIndex, offsetBy: 2))
    }
}
