/// The visible alert of a sealed push. APNs reads it, and the user sees it if the push can't be opened. It must reveal
/// nothing about the content, and neither must the arguments of a localised text.
public struct Placeholder: Hashable, Sendable {
    /// `title`: the literal title.
    public var title: String?
    /// `subtitle`: the literal subtitle.
    public var subtitle: String?
    /// `body`: the literal body.
    public var body: String?
    /// `title-loc-key`: the title's key in the app's Localizable.strings.
    public var titleLocKey: String?
    /// `title-loc-args`: the arguments of the text of ``titleLocKey``.
    public var titleLocArguments: [String]
    /// `subtitle-loc-key`: the subtitle's key in the app's Localizable.strings.
    public var subtitleLocKey: String?
    /// `subtitle-loc-args`: the arguments of the text of ``subtitleLocKey``.
    public var subtitleLocArguments: [String]
    /// `loc-key`: the body's key in the app's Localizable.strings.
    public var bodyLocKey: String?
    /// `loc-args`: the arguments of the text of ``bodyLocKey``.
    public var bodyLocArguments: [String]
    /// `launch-image`: the image or storyboard that the app shows while it is launched.
    public var launchImage: String?

    /// Makes a placeholder. One of title, subtitle, body, `titleLocKey` and `bodyLocKey` must have a character that a person
    /// can see. The device prefers a key to a literal text of the same part.
    public init(
        title: String? = nil, subtitle: String? = nil, body: String? = nil,
        titleLocKey: String? = nil, titleLocArguments: [String] = [],
        subtitleLocKey: String? = nil, subtitleLocArguments: [String] = [],
        bodyLocKey: String? = nil, bodyLocArguments: [String] = [], launchImage: String? = nil
    ) {
        self.title = title
        self.subtitle = subtitle
        self.body = body
        self.titleLocKey = titleLocKey
        self.titleLocArguments = titleLocArguments
        self.subtitleLocKey = subtitleLocKey
        self.subtitleLocArguments = subtitleLocArguments
        self.bodyLocKey = bodyLocKey
        self.bodyLocArguments = bodyLocArguments
        self.launchImage = launchImage
    }

    /// A placeholder with the same text on every device.
    public static func literal(title: String?, body: String?) -> Placeholder { Placeholder(title: title, body: body) }

    /// A placeholder that the device localises: keys of the app's Localizable.strings.
    public static func localized(title: String?, body: String?) -> Placeholder {
        Placeholder(titleLocKey: title, bodyLocKey: body)
    }

    /// "New message", "Open the app to read it".
    public static let standard = Placeholder.literal(title: "New message", body: "Open the app to read it")

    /// `aps.alert` as raw JSON; nil if the placeholder has no text that iOS would show.
    package var json: [UInt8]? {
        func hasText(_ text: String?) -> Bool { text?.isVisible == true }
        guard hasText(title) || hasText(subtitle) || hasText(body) || hasText(titleLocKey) || hasText(bodyLocKey)
        else { return nil }
        var json = [UInt8]()
        json.reserveCapacity(128)
        json.append(UInt8(ascii: "{"))
        func appendName(_ name: String) {
            if json.count > 1 { json.append(UInt8(ascii: ",")) }
            JSONWriter.appendString(name, to: &json)
            json.append(UInt8(ascii: ":"))
        }
        func append(_ name: String, _ text: String?) {
            guard let text, !text.isEmpty else { return }
            appendName(name)
            JSONWriter.appendString(text, to: &json)
        }
        func append(_ name: String, _ texts: [String]) {
            guard !texts.isEmpty else { return }
            appendName(name)
            for (index, text) in texts.enumerated() {
                json.append(UInt8(ascii: index == 0 ? "[" : ","))
                JSONWriter.appendString(text, to: &json)
            }
            json.append(UInt8(ascii: "]"))
        }
        append("title", title)
        append("subtitle", subtitle)
        append("body", body)
        append("title-loc-key", titleLocKey)
        append("subtitle-loc-key", subtitleLocKey)
        append("loc-key", bodyLocKey)
        append("title-loc-args", titleLocArguments)
        append("subtitle-loc-args", subtitleLocArguments)
        append("loc-args", bodyLocArguments)
        append("launch-image", launchImage)
        json.append(UInt8(ascii: "}"))
        return json
    }
}

/// The text of an `aps.alert` object; a plain string is a body.
package enum AlertText {
    /// The members with text: literal texts, keys of the app's strings, and their arguments.
    private static let strings = AlertPart.allCases.flatMap { [$0.rawValue, $0.keyName] }
    private static let arguments = AlertPart.allCases.map(\.argumentsName)
    /// The system shows an alert only if it has one of these members.
    private static let sufficient = ["title", "subtitle", "body", "loc-key", "title-loc-key"]

    /// Whether `alert` has a text that a person can see (PROTOCOL section 2).
    package static func isVisible(in alert: JSONValue?) -> Bool {
        guard let alert else { return false }
        return alert.isVisibleString || sufficient.contains { name in alert[name]?.isVisibleString ?? false }
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
        case .array: arguments.contains(member.name)
        default: false
        }
    }
}
