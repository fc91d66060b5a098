public import PushCryptCore

/// What is shown when a push can't be restored: the placeholder that came with it or, where there is none to show or
/// the payload wasn't sealed at all, the app's own text. Of the outer payload only `aps` is used, the placeholder and the
/// members exposed beside it; no custom member is.
public struct Fallback: Sendable {
    private let bundled: [UInt8]

    /// - Parameter bundled: the app's own text; the standard one stands in for a placeholder without text.
    public init(bundled: Placeholder = .standard) {
        self.bundled = bundled.json ?? Placeholder.standard.json ?? []
    }

    /// ```
    /// {"aps": <outer aps> | {"alert": <bundled>}, "pushcrypt": {"status": "failed", "reason": CLASS}}
    /// ```
    public func payload(for outer: [UInt8], _ failure: FailureClass) -> [UInt8] {
        var payload = Array(#"{"aps":"#.utf8)
        if failure != .notSealed, let aps = (try? JSONText(outer))?.root["aps"], AlertText.isPresent(in: aps["alert"]) {
            payload += aps.rawBytes
        } else {
            payload += #"{"alert":"#.utf8
            payload += bundled
            payload.append(UInt8(ascii: "}"))
        }
        payload += #","pushcrypt":{"status":"failed","reason":"#.utf8
        // Escaped: a keyring of the app's own may have classes of its own.
        JSONWriter.appendString(failure.rawValue, to: &payload)
        payload += "}}".utf8
        return payload
    }

    /// The same as content; its `userInfo` holds the `pushcrypt` member.
    public func content(for outer: [UInt8], _ failure: FailureClass) -> NotificationContent {
        guard let text = try? JSONText(payload(for: outer, failure)) else { return NotificationContent() }
        return NotificationContent(payload: text, userInfo: text.removingFromRoot("aps"))
    }
}
