#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Writes HTML elements that are also well-formed XML. All text and attribute values are escaped; children are markup.
enum HTML {
    static func element(
        _ name: String, class style: String? = nil, _ attributes: KeyValuePairs<String, String> = [:],
        _ children: [String] = []
    ) -> String {
        tag(name, class: style, attributes, end: ">") + children.joined() + "</\(name)>"
    }

    static func text(_ name: String, class style: String? = nil, _ content: String) -> String {
        element(name, class: style, [:], [escaped(content)])
    }

    /// Text from outside. Its first letter decides its direction. The style must make it a block: directional formatting
    /// characters then end with it.
    static func foreign(_ name: String, class style: String, _ content: String) -> String {
        element(name, class: style, ["dir": "auto"], [escaped(content)])
    }

    /// An element that can't have content, such as `img`.
    static func void(
        _ name: String, class style: String? = nil, _ attributes: KeyValuePairs<String, String> = [:]
    ) -> String {
        tag(name, class: style, attributes, end: "/>")
    }

    private static func tag(
        _ name: String, class style: String?, _ attributes: KeyValuePairs<String, String>, end: String
    ) -> String {
        let list = (style.map { [("class", $0)] } ?? []) + attributes.map { ($0.key, $0.value) }
        return "<\(name)" + list.map { " \($0.0)=\"\(escaped($0.1))\"" }.joined() + end
    }

    static func image(_ bytes: [UInt8], type: String, class style: String, description: String) -> String {
        let address = "data:\(type);base64," + Data(bytes).base64EncodedString()
        return void("img", class: style, ["src": address, "alt": description])
    }

    /// Escapes markup, makes every line break a line feed, and replaces other control characters by U+FFFD.
    ///
    /// It compares Unicode scalars: as a `Character`, `<` with a combining accent isn't `<`.
    static func escaped(_ text: String) -> String {
        var (result, isAfterReturn) = ("", false)
        for scalar in text.unicodeScalars {
            defer { isAfterReturn = scalar == "\r" }
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            case "\n" where isAfterReturn: continue
            case "\n", "\r": result += "\n"
            case "\t": result += "\t"
            case _ where scalar.properties.generalCategory == .control: result += "\u{fffd}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
