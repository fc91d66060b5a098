import PushCryptCore
import PushCryptFiles
import PushCryptPrimitives

/// A payload as somebody has it. The layers that transport added are removed as far as possible, so that further faults are
/// found too.
struct ReceivedPayload {
    /// What happened to the text before the payload could be read.
    enum Wrapping: Hashable {
        case utf16
        case byteOrderMark
        /// The JSON is the content of a JSON string, so many times.
        case textInText(Int)
        /// The whole payload is base64.
        case base64
        /// The payload is a part of another object, at the path.
        case inside(String)
        /// The payload is in a message to Amazon SNS, in the member of this name: as a string, or as an object.
        case simpleNotificationService(String, isText: Bool)
    }

    /// Where `pushcrypt` is.
    enum Place: Hashable {
        case root
        /// In another member of the payload, at the path.
        case moved(String)
        /// The members of `pushcrypt` are in an object with another name, or in the payload itself.
        case renamed(String)
    }

    /// The number of bytes that APNs counts.
    private(set) var byteCount: Int
    private(set) var wrappings: [Wrapping] = []
    /// Why the text can't be read as JSON; nil if it can.
    private(set) var jsonError: JSONError?
    private(set) var text: [UInt8]
    /// The payload itself; nil if there is no object.
    private(set) var root: JSONValue?
    /// The value of `pushcrypt`; nil if there is none.
    private(set) var envelope: JSONValue?
    private(set) var place = Place.root
    private(set) var envelopeIsText = false
    /// The headers of the request, if they are beside the payload as `simulate` reads them.
    private(set) var requestHeaders: JSONValue?

    var isEmpty: Bool { text.allSatisfy(\.isWhiteSpace) }
    var aps: JSONValue? { root?["aps"] }
    /// Whether it is of a Live Activity and, as it must be, not sealed. Several detectors ask.
    private(set) var isOfLiveActivity = false

    init(_ input: [UInt8]) {
        // `seal` prints a newline after a payload.
        text = input.last == .newline ? input.dropLast() : input
        byteCount = text.count
        guard !isEmpty else { return }
        removeEncoding()
        guard var value = parse() else { return }
        var depth = 0
        while value.kind == .string, depth < 3, let inner = Self.parsedText(value) {
            depth += 1
            value = inner
        }
        if depth > 0 { wrappings.append(.textInText(depth)) }
        guard value.kind == .object || value.kind == .array else { return }
        find(in: value)
        isOfLiveActivity = envelope == nil && aps?.isOfLiveActivity == true
    }

    private mutating func removeEncoding() {
        switch TextEncoding(of: text.bytes) {
        case nil: return
        case .utf8WithByteOrderMark?:
            wrappings.append(.byteOrderMark)
            text = Array(text.dropFirst(3))
        case let encoding?:
            wrappings.append(.utf16)
            text = Self.decodedUTF16(text, isBig: encoding == .bigEndianUTF16)
        }
    }

    private mutating func parse() -> JSONValue? {
        do throws(JSONError) { return try JSONText(text).root } catch {
            guard let decoded = Base64.decode(text.bytes, .any),
                let value = (try? JSONText(Array(decoded.bytes)))?.root, value.kind == .object
            else {
                jsonError = error
                return nil
            }
            wrappings.append(.base64)
            return value
        }
    }

    private static func parsedText(_ value: JSONValue) -> JSONValue? {
        guard let utf8 = value.utf8, let inner = (try? JSONText(Array(utf8)))?.root, inner.kind != .number else {
            return nil
        }
        return inner
    }

    private static func decodedUTF16(_ bytes: [UInt8], isBig: Bool) -> [UInt8] {
        let units = stride(from: 0, to: bytes.count - 1, by: 2).map { index in
            let (first, second) = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
            return isBig ? first << 8 | second : second << 8 | first
        }
        return Array(String(decoding: units.first == 0xfeff ? units[1...] : units[...], as: UTF16.self).utf8)
    }
}

/// The search for the payload and its `pushcrypt` member.
extension ReceivedPayload {
    private struct Found {
        let path: [String]
        let holder: JSONValue
        let envelope: JSONValue
    }

    private mutating func find(in whole: JSONValue) {
        let payload = Self.payload(ofRequest: whole)
        let top = payload ?? whole
        if let payload { (requestHeaders, byteCount) = (whole["headers"], payload.range.count) }
        root = top.kind == .object ? top : nil
        if let payload = Self.payload(ofBatchLine: top) {
            enter(Found(path: ["payload"], holder: payload, envelope: payload), of: top)
            if let envelope = payload["pushcrypt"] { take(envelope) }
            return
        }
        if let envelope = root?["pushcrypt"] { return take(envelope) }
        var visited = 0
        if let found = Self.search(top, [], &visited, where: { $0["pushcrypt"] }) {
            if found.holder["aps"] != nil {
                enter(found, of: top)
            } else {
                place = .moved(Self.text(of: found.path + ["pushcrypt"]))
            }
            return take(found.envelope)
        }
        visited = 0
        if let found = Self.search(top, [], &visited, where: { $0["sealed"] != nil && $0["kid"] != nil ? $0 : nil }) {
            place = .renamed(found.path.isEmpty ? "the payload itself" : Self.text(of: found.path))
            return take(found.envelope)
        }
        visited = 0
        // A payload that was never sealed may be wrapped, too.
        if root?["aps"] == nil, let found = Self.search(top, [], &visited, where: { $0["aps"] }) {
            enter(found, of: top)
        }
    }

    /// The payload in a line of `seal --batch`, whose own member "pushcrypt" has the number of the line.
    private static func payload(ofBatchLine top: JSONValue) -> JSONValue? {
        guard top["aps"] == nil, let summary = top["pushcrypt"], summary["line"] != nil, summary["sealed"] == nil,
            let payload = top["payload"], payload["aps"] != nil || payload["pushcrypt"] != nil
        else { return nil }
        return payload
    }

    /// The payload in `{"payload": {…}, "headers": {"apns-topic": …}}`.
    private static func payload(ofRequest top: JSONValue) -> JSONValue? {
        guard top["aps"] == nil, let payload = top["payload"], payload["aps"] != nil || payload["pushcrypt"] != nil,
            top["headers"]?.members.contains(where: { $0.name.lowercased().hasPrefix("apns-") }) == true
        else { return nil }
        return payload
    }

    private mutating func enter(_ found: Found, of top: JSONValue) {
        root = found.holder
        let path = Self.text(of: found.path)
        let isService = ["APNS", "APNS_SANDBOX"].contains(path)
        wrappings.append(
            isService ? .simpleNotificationService(path, isText: top[path]?.kind == .string) : .inside(path))
        byteCount = found.holder.range.count
    }

    /// The names that are printed. Others may be content, such as the token of a device.
    private static let printedNames: Set = [
        "alert", "apns", "APNS", "APNS_SANDBOX", "aps", "body", "content", "custom", "data", "encrypted", "extra",
        "gcm", "headers", "ios", "message", "messages", "notification", "options", "params", "payload", "platforms",
        "push", "pushcrypt", "request", "sealed", "userInfo", "user_info",
    ]

    /// A path as it is printed.
    private static func text(of path: [String]) -> String {
        path.map { name in
            let isIndex = name.hasPrefix("[") && name.hasSuffix("]") && Int(name.dropFirst().dropLast()) != nil
            return isIndex || printedNames.contains(name) ? name : "(a member)"
        }.joined(separator: ".")
    }

    private mutating func take(_ value: JSONValue) {
        let inner = Self.parsedText(value).flatMap { $0.kind == .object ? $0 : nil }
        envelopeIsText = inner != nil
        envelope = inner ?? value
    }

    /// Searches objects, arrays and texts that contain JSON, at most 5 levels deep and 2,000 values.
    private static func search(
        _ value: JSONValue, _ path: [String], _ visited: inout Int, where match: (JSONValue) -> JSONValue?
    ) -> Found? {
        visited += 1
        guard path.count <= 5, visited < 2_000 else { return nil }
        switch value.kind {
        case .object:
            if let envelope = match(value) { return Found(path: path, holder: value, envelope: envelope) }
            for member in value.members {
                if let found = search(member.value, path + [member.name], &visited, where: match) { return found }
            }
        case .array:
            for (index, element) in value.elements.enumerated() {
                if let found = search(element, path + ["[\(index)]"], &visited, where: match) { return found }
            }
        case .string:
            guard let inner = parsedText(value), inner.kind == .object else { return nil }
            return search(inner, path, &visited, where: match)
        default: break
        }
        return nil
    }
}
