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
    /// If the table doesn't have the key, or the localised text with its arguments is empty, the result is the literal text,
    /// or empty if there is none. The system would show the key itself.
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
        guard let format = table.string(for: locKey) else { return Self(literal: visibleLiteral) }
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
package enum StringFormat {
    /// The number of arguments that a format inserts, which is the highest number in it.
    package static func argumentCount(of format: String) -> Int {
        var next = 0
        let numbers = format.matches(of: argument).map { match in
            if match.0 != "%%", match.1 == nil { next += 1 }
            return match.0 == "%%" ? 0 : match.1.flatMap { Int($0) } ?? next
        }
        return numbers.max() ?? 0
    }

    private static var argument: Regex<(Substring, Substring?)> { /%(?:%|(?:([0-9]+)\$)?@)/ }

    static func text(_ format: String, _ arguments: [String]) -> String {
        var next = 0
        return format.replacing(argument) { match in
            if match.0 == "%%" { return "%" }
            if match.1 == nil { next += 1 }
            guard let number = match.1.map({ Int($0) }) ?? next else { return String(match.0) }
            return arguments.indices.contains(number - 1) ? arguments[number - 1] : ""
        }
    }
}
