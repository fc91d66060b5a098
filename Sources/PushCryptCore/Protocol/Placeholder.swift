/// The visible alert: what APNs sees, and what the user sees when a push can't be restored. It must not reveal anything
/// about the content.
public struct Placeholder: Hashable, Sendable {
    /// The literal title.
    public var title: String?
    /// The literal body.
    public var body: String?
    /// A key of the app's Localizable.strings, so that the device localises the title.
    public var titleLocKey: String?
    /// A key of the app's Localizable.strings, so that the device localises the body.
    public var bodyLocKey: String?

    /// At least one part must not be empty. A loc-key wins over the literal text of the same part on the device.
    public init(title: String? = nil, body: String? = nil, titleLocKey: String? = nil, bodyLocKey: String? = nil) {
        self.title = title
        self.body = body
        self.titleLocKey = titleLocKey
        self.bodyLocKey = bodyLocKey
    }

    /// The same text on every device.
    public static func literal(title: String?, body: String?) -> Placeholder {
        Placeholder(title: title, body: body)
    }

    /// Keys of the app's Localizable.strings.
    public static func localized(title: String?, body: String?) -> Placeholder {
        Placeholder(titleLocKey: title, bodyLocKey: body)
    }

    /// Says that there is a message, and nothing about it.
    public static let standard = Placeholder.literal(title: "New message", body: "Open the app to read it")

    /// `aps.alert` as raw JSON; nil without any text.
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
