/// A text of `aps.alert`: a literal, a key of the app's texts with its arguments, or both.
package enum AlertPart: String, CaseIterable, Sendable {
    case title, subtitle, body

    /// The member with the key, such as `title-loc-key`.
    package var keyName: String {
        switch self {
        case .title: "title-loc-key"
        case .subtitle: "subtitle-loc-key"
        case .body: "loc-key"
        }
    }

    /// The member with the arguments of the key's text, such as `title-loc-args`.
    package var argumentsName: String {
        switch self {
        case .title: "title-loc-args"
        case .subtitle: "subtitle-loc-args"
        case .body: "loc-args"
        }
    }
}

/// A key of the app's texts in an `aps.alert`, with the arguments of its text (PROTOCOL section 8). Every reader of these members
/// uses this type.
package struct LocalizedKey: Sendable {
    package let part: AlertPart
    package let name: String
    private let list: JSONValue?

    /// Reads the key of a part. A key without a visible character is no key.
    package init?(_ part: AlertPart, in alert: JSONValue?) {
        guard let alert, let name = alert[part.keyName]?.string, Self.isKey(name) else { return nil }
        (self.part, self.name, list) = (part, name, alert[part.argumentsName])
    }

    /// Reads the keys of an alert, in the order title, subtitle, body.
    package static func all(in alert: JSONValue?) -> [LocalizedKey] {
        AlertPart.allCases.compactMap { LocalizedKey($0, in: alert) }
    }

    /// Whether a text names an entry of the app's texts.
    package static func isKey(_ name: String) -> Bool { name.isVisible }

    /// The arguments as texts, each at its own position: the characters of a string, the JSON text of a number or boolean, and an
    /// empty text for null. nil if there is an object or array, which has no text: then the app's text can't be made.
    package var arguments: [String]? {
        guard let list else { return [] }
        var texts: [String] = []
        for element in list.elements {
            switch element.kind {
            case .string: texts.append(element.string ?? "")
            case .number, .boolean: texts.append(String(decoding: element.rawBytes, as: UTF8.self))
            case .null: texts.append("")
            case .object, .array: return nil
            }
        }
        return texts
    }

    /// The arguments that aren't strings, which Apple's documentation requires, with their indices from 0.
    package var otherArguments: [(index: Int, value: JSONValue)] {
        list.map { list in list.elements.enumerated().filter { $1.kind != .string }.map { (index: $0, value: $1) } }
            ?? []
    }
}
