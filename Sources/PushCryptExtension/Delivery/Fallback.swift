public import PushCryptCore

/// What is shown when a push can't be restored: the app's own text for that failure, else the placeholder that came with
/// the push or, where there is none to show or the payload wasn't sealed at all, the app's own text for all.
///
/// Of the outer payload only `aps` is used: the placeholder and the members exposed beside it, without those that make the
/// app do something (`category`, `target-content-id`). No custom member is.
public struct Fallback: Sendable {
    private let bundled: [UInt8]
    private let texts: [FailureClass: [UInt8]]

    /// - Parameters:
    ///   - bundled: the app's own text; the standard one stands in for a placeholder without text.
    ///   - texts: the app's own texts by failure class, in place of the placeholder that came with the push. Say nothing of
    ///     the cause: it stands on the lock screen.
    public init(bundled: Placeholder = .standard, texts: [FailureClass: Placeholder] = [:]) {
        self.bundled = bundled.json ?? Placeholder.standard.json ?? []
        self.texts = texts.compactMapValues(\.json)
    }

    /// ```
    /// {"aps": <outer aps> | {"alert": <the app's text>}, "pushcrypt": {"status": "failed", "reason": CLASS}}
    /// ```
    public func payload(for outer: [UInt8], _ failure: FailureClass) -> [UInt8] {
        payload(for: outer, failure, text: texts[failure])
    }

    private func payload(for outer: [UInt8], _ failure: FailureClass, text: [UInt8]?) -> [UInt8] {
        var payload = Array(#"{"aps":"#.utf8)
        if text == nil, failure != .notSealed, let aps = (try? JSONText(outer))?.root["aps"],
            AlertText.isPresent(in: aps["alert"]), let quiet = try? JSONText(Array(aps.rawBytes))
        {
            payload += quiet.removingFromRoot("category", "target-content-id")
        } else {
            payload += #"{"alert":"#.utf8
            payload += text ?? bundled
            payload.append(UInt8(ascii: "}"))
        }
        payload += #","pushcrypt":{"status":"failed","reason":"#.utf8
        // Escaped: a keyring of the app's own may have classes of its own.
        JSONWriter.appendString(failure.rawValue, to: &payload)
        payload += "}}".utf8
        return payload
    }

    /// The same as content; its `userInfo` holds the `pushcrypt` member.
    ///
    /// - Parameter text: shown in place of every other.
    public func content(
        for outer: [UInt8], _ failure: FailureClass, showing text: Placeholder? = nil
    ) -> NotificationContent {
        let payload = payload(for: outer, failure, text: text?.json ?? texts[failure])
        guard let text = try? JSONText(payload) else { return NotificationContent() }
        return NotificationContent(payload: text, userInfo: text.removingFromRoot("aps"))
    }
}
