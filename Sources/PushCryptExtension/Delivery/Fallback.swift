public import PushCryptCore

/// The text that is shown for a push that wasn't restored. The app chooses; there is no default.
///
/// The outer payload of such a push isn't authenticated: a relay can write anything into it. Only the text of its
/// `aps.alert` can be shown, and only if the app chose ``outerAlert(orElse:texts:)``. If it names any sound, the default
/// sound is played. All other members are ignored.
public struct Fallback: Sendable {
    private let bundled: [UInt8]
    private let texts: [FailureClass: [UInt8]]
    private var showsOuterAlert: Bool

    private init(_ bundled: Placeholder, _ texts: [FailureClass: Placeholder], showsOuterAlert: Bool) {
        self.bundled = Self.alert(bundled) ?? Self.alert(.standard) ?? []
        self.texts = texts.compactMapValues(Self.alert)
        self.showsOuterAlert = showsOuterAlert
    }

    /// Shows the app's own text, which a relay can't influence.
    ///
    /// - Parameters:
    ///   - text: the text for every failure; ``Placeholder/standard`` replaces an empty one.
    ///   - texts: other texts by failure class. Don't mention the cause: the text is shown on the lock screen.
    public static func bundled(_ text: Placeholder, texts: [FailureClass: Placeholder] = [:]) -> Fallback {
        Fallback(text, texts, showsOuterAlert: false)
    }

    /// Shows the alert of the outer payload: the sender's placeholder, or a text that a relay wrote in its place. It isn't
    /// authenticated.
    ///
    /// Only title, subtitle and body are used, each as literal text or as a key of the app's strings with arguments. A
    /// payload that wasn't sealed shows `text`.
    ///
    /// - Parameters:
    ///   - text: the app's own text for payloads whose alert has no text; ``Placeholder/standard`` replaces an empty one.
    ///   - texts: the app's own texts by failure class, in place of the outer alert. Don't mention the cause: the text is
    ///     shown on the lock screen.
    public static func outerAlert(orElse text: Placeholder, texts: [FailureClass: Placeholder] = [:]) -> Fallback {
        Fallback(text, texts, showsOuterAlert: true)
    }

    /// The same texts without the outer alert.
    var withoutOuterAlert: Fallback {
        var fallback = self
        fallback.showsOuterAlert = false
        return fallback
    }

    /// Returns the payload that is shown in place of the push.
    ///
    /// ```
    /// {"aps": {"alert": TEXT, ["sound": "default"]}, "pushcrypt": {[SEALED MESSAGE,] "status": "failed", "reason": CLASS}}
    /// ```
    /// The sealed message is kept after `keyLocked`, `timedOut`, `unknownKey` and `keyExpired`, so that the app can open it later.
    ///
    /// - Parameter carriers: as for ``Opener``.
    public func payload(
        for outer: [UInt8], _ failure: FailureClass, carriers: Set<Carrier> = [.apns]
    ) -> [UInt8] {
        payload(for: outer, failure, text: nil, at: EnvelopePlaces(carriers))
    }

    /// Returns the content that is shown in place of the push; its `userInfo` contains only the `pushcrypt` member. `text`
    /// replaces every other text.
    public func content(
        for outer: [UInt8], _ failure: FailureClass, showing text: Placeholder? = nil, carriers: Set<Carrier> = [.apns]
    ) -> NotificationContent {
        content(for: outer, failure, showing: text, at: EnvelopePlaces(carriers))
    }

    func content(
        for outer: [UInt8], _ failure: FailureClass, showing text: Placeholder?, at places: EnvelopePlaces
    ) -> NotificationContent {
        Self.content(payload(for: outer, failure, text: text.flatMap(Self.alert), at: places))
    }

    /// Returns the content that is shown in place of the push, in the user's language; with the standard text if the app
    /// lacks the keys.
    ///
    /// - Parameter strings: called only for content with keys, because it reads files.
    package func content(
        for outer: [UInt8], _ failure: FailureClass, in strings: () -> any StringTable
    ) -> NotificationContent {
        var content = content(for: outer, failure)
        let hasKeys = [content.title, content.subtitle, content.body].contains { $0.locKey != nil }
        if hasKeys { content = content.localized(by: strings()) }
        return content.hasText ? content : Fallback.bundled(.standard).content(for: outer, failure)
    }

    /// The app's own text, for content without text.
    func bundledContent(_ failure: FailureClass) -> NotificationContent {
        Self.content(payload(for: [], failure, text: bundled, at: .standard))
    }

    private func payload(
        for outer: [UInt8], _ failure: FailureClass, text: [UInt8]?, at places: EnvelopePlaces
    ) -> [UInt8] {
        let aps = (try? JSONText(outer))?.root["aps"]
        var payload = Array(#"{"aps":{"alert":"#.utf8)
        payload += text ?? texts[failure] ?? outerAlert(of: aps, failure) ?? bundled
        if aps?["sound"].flatMap(NotificationContent.Sound.init(json:)) != nil {
            payload += #","sound":"default""#.utf8
        }
        payload += #"},"pushcrypt":{"#.utf8
        payload += KeptMessage.members(of: outer, at: places, failure)
        payload += #""status":"failed","reason":"#.utf8
        // Escaped, because a custom keyring may define failure classes.
        JSONWriter.appendString(failure.rawValue, to: &payload)
        payload += "}}".utf8
        return payload
    }

    private func outerAlert(of aps: JSONValue?, _ failure: FailureClass) -> [UInt8]? {
        guard showsOuterAlert, failure != .notSealed, let alert = aps?["alert"] else { return nil }
        return Self.hasText(alert) ? AlertText.json(of: alert) : nil
    }

    private static func alert(_ text: Placeholder) -> [UInt8]? {
        guard let json = text.json, let alert = try? JSONText(json).root, hasText(alert) else { return nil }
        return json
    }

    private static func hasText(_ alert: JSONValue) -> Bool {
        var content = NotificationContent()
        content.setText(from: alert)
        return content.hasText
    }

    private static func content(_ payload: [UInt8]) -> NotificationContent {
        guard let text = try? JSONText(payload) else { return NotificationContent() }
        return NotificationContent(payload: text, userInfo: text.removingFromRoot("aps"))
    }
}
