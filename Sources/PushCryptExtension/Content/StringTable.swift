/// The app's Localizable.strings in the user's language.
public protocol StringTable: Sendable {
    /// Returns the text of a key; nil if the app doesn't have the key. The arguments of a push are texts, so the text may have `%@`,
    /// `%1$@` and `%%`. With another specifier, such as `%d`, or with plural forms it isn't shown.
    func string(for key: String) -> String?
}

extension [String: String]: StringTable {
    /// Returns the value of the key.
    public func string(for key: String) -> String? { self[key] }
}

extension NotificationContent {
    /// Replaces each key by its localised text with the arguments inserted.
    ///
    /// If the table doesn't have the key, or a text that can't be shown (see ``StringTable/string(for:)``), or the localised text
    /// with its arguments is empty, the result is the literal text, or empty if there is none. The system would show the key itself.
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
        guard let locKey else { return self }
        let text = table.string(for: locKey).flatMap { format in try? StringFormat(format).text(locArguments) }
        return Self(literal: text?.isVisible == true ? text : visibleLiteral)
    }
}

/// A text of the app into which the arguments of a push are inserted. They are all texts.
///
/// ```
/// format    = *( "%%" / argument / other )
/// argument  = "%" [ 1*DIGIT "$" ] "@"
/// ```
/// Any other specifier is refused: those of Apple's "String Format Specifiers" (`printf` of IEEE 1003.1), and `%#@name@` for the
/// plural forms of a `.stringsdict` file. Left out, it would give its argument to the next one. A space is no flag of a specifier
/// here, as in `printf`, because "50 % discount" is a common text.
///
/// A missing argument is empty: a format from a strings file can't be trusted to match the arguments.
package struct StringFormat {
    /// A specifier for something other than a text, or for an argument 0.
    package struct UnusableSpecifier: Error, Hashable {
        package let text: String
        package var isPlural: Bool { text.contains("#@") }
    }

    /// Texts, each with the position from 1 of the argument after it.
    private var pieces: [(text: Substring, position: Int?)] = []

    package init(_ format: String) throws(UnusableSpecifier) {
        var (end, next) = (format.startIndex, 0)
        for match in format.matches(of: Self.specifier) {
            let text = format[end..<match.range.lowerBound]
            end = match.range.upperBound
            guard match.0 != "%%" else {
                pieces += [(text, nil), ("%", nil)]
                continue
            }
            if match.1 == nil { next += 1 }
            guard match.2 != nil, let position = match.1.map({ Int($0) }) ?? next, position > 0 else {
                throw UnusableSpecifier(text: String(match.0))
            }
            pieces.append((text, position))
        }
        pieces.append((format[end...], nil))
    }

    /// Parts: the position and `@` of an argument.
    private static var specifier: Regex<(Substring, Substring?, Substring?)> {
        #/
        % (?: % | (?: ([0-9]+) \$ )? (?:
            (@) | \#@ [^@]* @
            | [\-+\#0']* (?: [0-9]+ | \* )? (?: \. (?: [0-9]+ | \* )? )? (?: hh | ll | [hlqLztj] )? [@aAcCdDeEfFgGinoOpsSuUxX]
        ) )
        /#.matchingSemantics(.unicodeScalar)
    }

    /// The number of arguments that are inserted, which is the highest position.
    package var argumentCount: Int { pieces.compactMap(\.position).max() ?? 0 }

    /// The text with its arguments.
    package func text(_ arguments: [String]) -> String {
        pieces.map { text, position in
            text + (position.map { $0 <= arguments.count ? arguments[$0 - 1] : "" } ?? "")
        }.joined()
    }
}
