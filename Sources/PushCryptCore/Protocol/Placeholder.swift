/// The visible alert of a sealed push. APNs reads it, and the user sees it if the push can't be opened. It must reveal
/// nothing about the content.
public struct Placeholder: Hashable, Sendable {
    /// The literal title.
    public var title: String?
    /// The literal body.
    public var body: String?
    /// The title's key in the app's Localizable.strings.
    public var titleLocKey: String?
    /// The body's key in the app's Localizable.strings.
    public var bodyLocKey: String?

    /// Makes a placeholder; at least one part must not be empty. The device prefers a key to a literal text of the same part.
    public init(title: String? = nil, body: String? = nil, titleLocKey: String? = nil, bodyLocKey: String? = nil) {
        self.title = title
        self.body = body
        self.titleLocKey = titleLocKey
        self.bodyLocKey = bodyLocKey
    }

    /// A placeholder with the same text on every device.
    public static func literal(title: String?, body: String?) -> Placeholder { Placeholder(title: title, body: body) }

    /// A placeholder that the device localises: keys of the app's Localizable.strings.
    public static func localized(title: String?, body: String?) -> Placeholder {
        Placeholder(titleLocKey: title, bodyLocKey: body)
    }

    /// "New message", "Open the app to read it".
    public static let standard = Placeholder.literal(title: "New message", body: "Open the app to read it")

    /// `aps.alert` as raw JSON; nil if there is no text.
    package var json: [UInt8]? {
        let members = [("title", title), ("body", body), ("title-loc-key", titleLocKey), ("loc-key", bodyLocKey)]
        var json = Array("{".utf8)
        for (name, text) in members {
            guard let text, !text.isEmpty else { continue }
            if json.count > 1 { json.append(UInt8(ascii: ",")) }
            JSONWriter.appendString(name, to: &json)
            json.append(UInt8(ascii: ":"))
            JSONWriter.appendString(text, to: &json)
        }
        json.append(UInt8(ascii: "}"))
        return json.count > 2 ? json : nil
    }
}

/// The text of an `aps.alert` object; a plain string is a body.
package enum AlertText {
    /// The members with text: literal texts, keys of the app's strings, and their arguments.
    private static let strings = ["title", "subtitle", "body", "title-loc-key", "subtitle-loc-key", "loc-key"]
    private static let arguments = ["title-loc-args", "subtitle-loc-args", "loc-args"]
    /// The system shows an alert only if it has one of these members.
    private static let sufficient = ["title", "subtitle", "body", "loc-key", "title-loc-key"]

    /// Whether `alert` has a text that isn't empty, as the protocol requires.
    package static func isPresent(in alert: JSONValue?) -> Bool {
        guard let alert else { return false }
        return alert.isNonEmptyString || sufficient.contains { name in alert[name]?.isNonEmptyString ?? false }
    }

    /// Returns an alert's members with text as raw JSON, without members of a wrong type; nil if `alert` isn't an alert.
    package static func json(of alert: JSONValue) -> [UInt8]? {
        if alert.kind == .string { return Array(alert.rawBytes) }
        guard alert.kind == .object else { return nil }
        var json = [UInt8]()
        for member in alert.members where isText(member) {
            json.append(UInt8(ascii: json.isEmpty ? "{" : ","))
            JSONWriter.appendString(member.name, to: &json)
            json.append(UInt8(ascii: ":"))
            json += member.value.rawBytes
        }
        json += json.isEmpty ? "{}".utf8 : "}".utf8
        return json
    }

    private static func isText(_ member: JSONMember) -> Bool {
        switch member.value.kind {
        case .string: strings.contains(member.name)
        case .array: arguments.contains(member.name) && member.value.elements.allSatisfy { $0.kind == .string }
        default: false
        }
    }
}
