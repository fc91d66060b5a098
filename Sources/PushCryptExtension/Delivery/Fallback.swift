public import PushCryptCore

/// What is shown for a push that wasn't restored. The app chooses; there is no default.
///
/// The outer payload of such a push is not authenticated: a relay can write anything into it. It contributes the text
/// of its `aps.alert` at most, and that only where the app chose ``outerAlert(orElse:texts:)``. If it asks for any sound,
/// the default sound is played. No other member of it has an effect.
public struct Fallback: Sendable {
    private let bundled: [UInt8]
    private let texts: [FailureClass: [UInt8]]
    private let showsOuterAlert: Bool

    private init(_ bundled: Placeholder, _ texts: [FailureClass: Placeholder], showsOuterAlert: Bool) {
        self.bundled = Self.alert(bundled) ?? Self.alert(.standard) ?? []
        self.texts = texts.compactMapValues(Self.alert)
        self.showsOuterAlert = showsOuterAlert
    }

    /// The app's own text: a relay chooses nothing of what is shown.
    ///
    /// - Parameters:
    ///   - text: for every failure; ``Placeholder/standard`` replaces one without text.
    ///   - texts: other texts by failure class. Say nothing of the cause: they stand on the lock screen.
    public static func bundled(_ text: Placeholder, texts: [FailureClass: Placeholder] = [:]) -> Fallback {
        Fallback(text, texts, showsOuterAlert: false)
    }

    /// The alert text that arrived outside: the sender's placeholder, or whatever a relay wrote in its place. It is not
    /// authenticated.
    ///
    /// Used are title, subtitle and body, each as literal text or as a key of the app's strings with arguments. Launch
    /// image, action keys and every other member are not. A payload that wasn't sealed at all shows `text`, as the app
    /// demanded sealed ones.
    ///
    /// - Parameters:
    ///   - text: the app's own text, for payloads whose alert has none; ``Placeholder/standard`` replaces one without text.
    ///   - texts: the app's own texts by failure class, in place of the outer alert. Say nothing of the cause: they stand
    ///     on the lock screen.
    public static func outerAlert(orElse text: Placeholder, texts: [FailureClass: Placeholder] = [:]) -> Fallback {
        Fallback(text, texts, showsOuterAlert: true)
    }

    /// What is shown in place of a push, as a payload.
    ///
    /// ```
    /// {"aps": {"alert": TEXT, ["sound": "default"]}, "pushcrypt": {"status": "failed", "reason": CLASS}}
    /// ```
    public func payload(for outer: [UInt8], _ failure: FailureClass) -> [UInt8] {
        payload(for: Self.aps(outer), failure, text: nil)
    }

    /// The same as content; its `userInfo` holds the `pushcrypt` member alone.
    ///
    /// - Parameter text: shown in place of every other.
    public func content(
        for outer: [UInt8], _ failure: FailureClass, showing text: Placeholder? = nil
    ) -> NotificationContent {
        Self.content(payload(for: Self.aps(outer), failure, text: text.flatMap(Self.alert)))
    }

    /// The app's own text, for content that turned out to have none.
    func bundledContent(_ failure: FailureClass) -> NotificationContent {
        Self.content(payload(for: nil, failure, text: bundled))
    }

    private func payload(for aps: JSONValue?, _ failure: FailureClass, text: [UInt8]?) -> [UInt8] {
        var payload = Array(#"{"aps":{"alert":"#.utf8)
        payload += text ?? texts[failure] ?? outerAlert(of: aps, failure) ?? bundled
        if aps?["sound"].flatMap(NotificationContent.Sound.init(json:)) != nil {
            payload += #","sound":"default""#.utf8
        }
        payload += #"},"pushcrypt":{"status":"failed","reason":"#.utf8
        // Escaped: a keyring of the app's own may have classes of its own.
        JSONWriter.appendString(failure.rawValue, to: &payload)
        payload += "}}".utf8
        return payload
    }

    private func outerAlert(of aps: JSONValue?, _ failure: FailureClass) -> [UInt8]? {
        guard showsOuterAlert, failure != .notSealed, let alert = aps?["alert"] else { return nil }
        return Self.hasText(alert) ? AlertText.json(of: alert) : nil
    }

    private static func aps(_ outer: [UInt8]) -> JSONValue? { (try? JSONText(outer))?.root["aps"] }

    private static func alert(_ text: Placeholder) -> [UInt8]? {
        guard let json = text.json, let alert = try? JSONText(json).root, hasText(alert) else { return nil }
        return json
    }

    private static func hasText(_ alert: JSONValue) -> Bool {
        var content = NotificationContent()
        content.takeText(of: alert)
        return content.hasText
    }

    private static func content(_ payload: [UInt8]) -> NotificationContent {
        guard let text = try? JSONText(payload) else { return NotificationContent() }
        return NotificationContent(payload: text, userInfo: text.removingFromRoot("aps"))
    }
}
