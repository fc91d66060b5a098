import PushCryptCore

/// JSON for a reader: indented, with escapes only where a character would be invisible or change the order of others.
struct JSONMarkup {
    let value: JSONValue
    /// The value that only the phone can read; it is marked.
    var sealed: JSONValue?

    var html: String { HTML.element("pre", class: "json", ["tabindex": "0"], [markup(value, "")]) }

    private func markup(_ value: JSONValue, _ indent: String) -> String {
        switch value.kind {
        case .object:
            let members = value.members.map { member in
                Self.string(member.name, "name") + ": " + markup(member.value, indent + "  ")
            }
            return Self.lines(members, "{", "}", indent)
        case .array: return Self.lines(value.elements.map { markup($0, indent + "  ") }, "[", "]", indent)
        case .string:
            let isSealed = value.range == sealed?.range
            return Self.string(value.string ?? "", isSealed ? "sealed" : "string")
        case .number, .boolean, .null: return HTML.escaped(String(decoding: value.rawBytes, as: UTF8.self))
        }
    }

    private static func lines(_ rows: [String], _ start: String, _ end: String, _ indent: String) -> String {
        guard !rows.isEmpty else { return start + end }
        return start + "\n" + rows.map { indent + "  " + $0 }.joined(separator: ",\n") + "\n" + indent + end
    }

    private static func string(_ text: String, _ style: String) -> String {
        HTML.text("bdi", class: style, quoted(text))
    }

    /// The text as a string of JSON. Control characters, line separators and invisible formatting characters are escaped, except
    /// the two joiners: scripts and emoji need them.
    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": quoted += "\\\(scalar)"
            case "\n": quoted += "\\n"
            case "\t": quoted += "\\t"
            case _ where Self.isInvisible(scalar):
                for unit in String(scalar).utf16 { quoted += "\\u" + String(unit, radix: 16).leftPadded(to: 4, "0") }
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }

    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .format: scalar != "\u{200C}" && scalar != "\u{200D}"
        case .control, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}
