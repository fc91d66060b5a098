import PushCryptCore
import PushCryptKeystore

/// Faults of the document: what was received isn't the JSON object that APNs reads.
extension PayloadFaults {
    static func empty(_ evidence: Evidence) -> Fault? {
        guard evidence.payload.isEmpty else { return nil }
        // With these, somebody may ask about the request or the device only.
        let others = evidence.given.intersection([.headers, .report, .app])
        return Fault(
            others.isEmpty ? .error : .warning, "payload-empty", "There is no payload: the input is empty.",
            ["payload: 0 bytes"],
            do:
                "Give the body of the request to APNs, in a file or on stdin. If that body is what your backend sent, it sent "
                + "nothing.", explains: [.noPush])
    }

    /// `{"reason": …, "timestamp": …}`, also after the status and the headers, as `curl -i` prints it.
    static func answer(_ evidence: Evidence) -> Fault? {
        let payload = evidence.payload
        let isWhole = payload.jsonError != nil && payload.text.starts(with: "HTTP/".utf8)
        let isBody =
            payload.root?["reason"]?.string != nil
            && payload.root?.members.allSatisfy { ["reason", "timestamp"].contains($0.name) } == true
        guard isWhole || isBody else { return nil }
        return Fault(
            "payload-is-answer", "The input is the answer of APNs, not a payload.",
            [
                isWhole
                    ? "payload: it begins with HTTP/, as an answer does"
                    : "payload: an object with \"reason\" and nothing of a push"
            ], do: "Give the answer with --headers FILE, and the body of the request as the input.",
            hides: ["aps-missing", "not-sealed", "payload-not-json"])
    }

    /// APNs refuses what isn't JSON, and the extension what isn't strict JSON.
    private static let unreadable: [Symptom] = [.noPush, .failure(.malformed)]

    static func notJSON(_ evidence: Evidence) -> Fault? {
        guard let error = evidence.payload.jsonError else { return nil }
        let seen = ["payload: \(evidence.payload.byteCount) bytes, \(error)"]
        switch error.code {
        case .truncated:
            return Fault(
                "payload-truncated", "The payload is cut off: the JSON ends in the middle.", seen,
                do:
                    "Look for a limit between sealing and APNs: a database column, a log line or a message queue. A "
                    + "sealed push has up to 4096 bytes.", explains: unreadable)
        case .duplicateName:
            return Fault(
                "payload-duplicate-member",
                "The payload has the same member twice. Readers disagree on such JSON, so the extension refuses it.",
                seen,
                do: "Find what adds members to the payload after sealing. \(sendUnchanged)", explains: unreadable)
        case .invalidUTF8, .loneSurrogate:
            return Fault(
                "payload-not-utf8", "The payload isn't UTF-8: something converted its characters.", seen,
                do: "Send the sealed bytes without converting them to another character set.", explains: unreadable)
        default:
            let hint = Self.hint(evidence.payload.text, error)
            return Fault(
                "payload-not-json", "The payload isn't JSON.", seen, do: hint + sendUnchanged, explains: unreadable)
        }
    }

    /// What the text looks like, from its first bytes.
    private static func hint(_ text: [UInt8], _ error: JSONError) -> String {
        if text.starts(with: "[AnyHashable(".utf8) || text.starts(with: "Optional(".utf8) {
            return "It is a dictionary as Swift's print writes it: write the data of JSONSerialization instead. "
        }
        // A line of a log may begin with a number, which is JSON too. So only an object counts here.
        if error.code == .trailingBytes, text.first == UInt8(ascii: "{") {
            let lines = text.split(separator: UInt8(ascii: "\n")).count
            return lines > 1
                ? "There are \(lines) lines: give one payload at a time. "
                : "Something follows the JSON: give the payload alone. "
        }
        if ["{'", "b'", "b\""].contains(where: { text.starts(with: $0.utf8) }) {
            return "It looks like a value that Python printed: use json.dumps, or the sealed bytes themselves. "
        }
        if text.starts(with: [0x1f, 0x8b]) { return "It is compressed (gzip): send it uncompressed. " }
        let start = String(decoding: text.prefix(64), as: UTF8.self)
        if ["&quot;", "&#34;", "&#x22;", "&#39;"].contains(where: start.contains) {
            return "It was escaped for HTML, as templates do: write the payload without a template. "
        }
        if start.hasPrefix("{\\\"") {
            return "Its quotation marks were escaped, as for a JSON string or a shell: send the JSON itself. "
        }
        if text.starts(with: "%7B".utf8) || text.starts(with: "payload=".utf8) {
            return "It looks like a form: send the JSON itself. "
        }
        if text.first != UInt8(ascii: "{"), let brace = text.firstIndex(of: UInt8(ascii: "{")),
            text[brace...].contains(UInt8(ascii: ":"))
        {
            return "It looks like a line of a log, in which an object begins at byte \(brace): give only this object. "
        }
        return ""
    }

    static func utf16(_ evidence: Evidence) -> Fault? {
        guard evidence.payload.wrappings.contains(.utf16) else { return nil }
        return Fault(
            "payload-utf16", "The payload is UTF-16. APNs and the extension read UTF-8 only.",
            ["payload: every second byte of the beginning is zero"], do: "Encode the body of the request as UTF-8.",
            explains: unreadable)
    }

    static func byteOrderMark(_ evidence: Evidence) -> Fault? {
        guard evidence.payload.wrappings.contains(.byteOrderMark) else { return nil }
        return Fault(
            "payload-byte-order-mark", "The payload begins with a byte order mark, which isn't JSON.",
            ["payload: the first three bytes are EF BB BF"],
            do: "Write the body as UTF-8 without a byte order mark (in .NET: new UTF8Encoding(false)).",
            explains: unreadable)
    }

    static func textInText(_ evidence: Evidence) -> Fault? {
        for case .textInText(let count) in evidence.payload.wrappings {
            return Fault(
                "payload-encoded-twice",
                "The payload was encoded as JSON twice: it is a JSON text inside a JSON string.",
                ["payload: a string that contains the payload, \(NumberText.counted(count, "level")) deep"],
                do: "The sealed payload is JSON already. Send its bytes; don't pass them to a JSON encoder again.",
                explains: unreadable)
        }
        return nil
    }

    static func base64Payload(_ evidence: Evidence) -> Fault? {
        guard evidence.payload.wrappings.contains(.base64) else { return nil }
        return Fault(
            "payload-base64", "The whole payload is base64. APNs needs the JSON itself.",
            ["payload: base64 that contains a JSON object"], do: "Decode the payload before it is sent to APNs.",
            explains: unreadable)
    }

    /// The line of a request, as `simulate` reads it.
    static func requestLine(_ evidence: Evidence) -> Fault? {
        guard evidence.payload.requestHeaders != nil else { return nil }
        return Fault(
            .note, "payload-with-headers",
            "The input is a payload with the headers of its request. Both are examined.",
            ["payload: at payload, with headers beside it"],
            do: "Nothing, if the request has these headers and only the payload as its body.")
    }

    /// Firebase has the payload for APNs at this path of its own request.
    private static let firebasePaths = ["message.apns.payload", "apns.payload"]

    /// A message to Amazon SNS has the payload for APNs as a string, in a member for each platform.
    static func simpleNotificationService(_ evidence: Evidence) -> Fault? {
        for case .simpleNotificationService(let name, let isText) in evidence.payload.wrappings {
            guard isText else {
                return Fault(
                    "payload-wrapped", "The payload is in a message to Amazon SNS as an object, which SNS refuses.",
                    ["payload: \(name) is an object"],
                    do:
                        "Write it as a string in \"\(name)\": the text that sealing returned, encoded as JSON once more.",
                    explains: [.noPush])
            }
            return Fault(
                .note, "message-to-sns", "This is a message to Amazon SNS. Its payload for APNs is examined.",
                ["payload: a string in \(name)"], do: "Nothing, if it is published with the message structure json.")
        }
        return nil
    }

    static func wrapped(_ evidence: Evidence) -> Fault? {
        for case .inside(let path) in evidence.payload.wrappings {
            guard !firebasePaths.contains(path) else {
                return Fault(
                    .note, "request-to-firebase", "This is a request to Firebase. Its payload for APNs is examined.",
                    ["payload: at \(path)"], do: "Nothing, if Firebase received this request.")
            }
            return Fault(
                "payload-wrapped",
                "The push was sent inside another object, so iOS finds neither its aps nor its pushcrypt member.",
                ["payload: aps and pushcrypt are at \(path), not at the top"],
                do: "Send only the object at \(path). A line of `seal --batch` contains it as \"payload\".",
                explains: [.noPush, .failure(.notSealed)])
        }
        return nil
    }

    static func notAnObject(_ evidence: Evidence) -> Fault? {
        let payload = evidence.payload
        guard !payload.isEmpty, payload.jsonError == nil, payload.root == nil else { return nil }
        return Fault(
            "payload-not-an-object", "The payload is JSON, but not an object.", ["payload: no object at the top"],
            do: sendUnchanged, explains: unreadable)
    }
}
