import PushCryptCore
import PushCryptExtension
import PushCryptFiles
import PushCryptPrimitives

/// A payload as somebody has it. An object around it is removed, so that further faults are found too.
struct ReceivedPayload {
    /// What happened to the text before the payload could be read.
    enum Wrapping: Hashable {
        case utf16
        case byteOrderMark
        /// The JSON is the content of a JSON string.
        case textInText
        /// The whole payload is base64.
        case base64
        /// The payload is a part of another object, at the path, which no service takes out of it.
        case inside(String)
    }

    /// The number of bytes that APNs counts.
    private(set) var byteCount: Int
    private(set) var wrapping: Wrapping?
    /// Why the text can't be read as JSON; nil if it can.
    private(set) var jsonError: JSONError?
    let text: [UInt8]
    /// The payload itself; nil if there is no object.
    private(set) var root: JSONValue?
    /// The value of `pushcrypt`; nil if there is none.
    private(set) var envelope: JSONValue?
    /// Where `pushcrypt`, or an object with its members, is; nil if it is where the extension looks for it.
    private(set) var otherPlace: String?
    /// Where the extension looks for it.
    let places: [String]
    /// Whether two of the places have a value.
    private(set) var isAtTwoPlaces = false
    private(set) var envelopeIsText = false
    /// The carrier whose place the envelope has, if the app doesn't look there.
    private(set) var carrier: Carrier?
    /// The request to a service of which the payload was taken. Then `byteCount` has what the service may add.
    private(set) var request: ServiceRequest?
    /// The headers of the request, if they are beside the payload as `simulate` reads them.
    private(set) var requestHeaders: JSONValue?

    var isEmpty: Bool { text.allSatisfy(\.isWhiteSpace) }
    var aps: JSONValue? { root?["aps"] }
    /// Whether it is of a Live Activity and, as it must be, not sealed.
    private(set) var isOfLiveActivity = false
    /// Whether it is what APNs answers, `{"reason": …, "timestamp": …}`, or all that `curl -i` prints.
    private(set) var isAnswer = false

    /// - Parameter places: where the app's extension looks for the envelope.
    init(_ input: [UInt8], at places: EnvelopePlaces = .standard) {
        self.places = places.names
        // `seal` prints a newline after a payload.
        text = input.last == .newline ? input.dropLast() : input
        byteCount = text.count
        guard !isEmpty else { return }
        isAnswer = text.starts(with: "HTTP/".utf8)
        switch TextEncoding(of: text.bytes) {
        case nil: break
        case .utf8WithByteOrderMark?: wrapping = .byteOrderMark
        default: wrapping = .utf16
        }
        guard wrapping == nil, let value = parse() else { return }
        isAnswer =
            value["reason"]?.string != nil && value.members.allSatisfy { ["reason", "timestamp"].contains($0.name) }
        guard !isAnswer, value.kind == .object || value.kind == .array else { return }
        find(in: value, at: places)
        isOfLiveActivity = envelope == nil && aps?.isOfLiveActivity == true
    }

    private mutating func parse() -> JSONValue? {
        do throws(JSONError) {
            let value = try JSONText(text).root
            if Self.parsedText(value) != nil { wrapping = .textInText }
            return value
        } catch {
            let decoded = Base64.decode(text.bytes, .any)
            let inner = decoded.flatMap { (try? JSONText(Array($0.bytes)))?.root }
            if inner?.kind == .object { wrapping = .base64 } else { jsonError = error }
            return nil
        }
    }

    private static func parsedText(_ value: JSONValue) -> JSONValue? {
        guard let utf8 = value.utf8, let inner = (try? JSONText(Array(utf8)))?.root, inner.kind != .number else {
            return nil
        }
        return inner
    }
}

/// The search for the payload and its `pushcrypt` member.
extension ReceivedPayload {
    private struct Found {
        let path: [String]
        let holder: JSONValue
        let envelope: JSONValue
    }

    private mutating func find(in whole: JSONValue, at places: EnvelopePlaces) {
        var top = whole
        // A line of a queue, of `seal --batch`, or with the headers of its request as `simulate` reads it.
        if whole["aps"] == nil, let payload = whole["payload"], payload["aps"] != nil || payload["pushcrypt"] != nil {
            (top, byteCount) = (payload, payload.range.count)
            let headers = whole["headers"]
            let isRequest = headers?.members.contains { $0.name.lowercased().hasPrefix("apns-") } == true
            if isRequest { requestHeaders = headers } else { wrapping = .inside("payload") }
        }
        request = ServiceRequest(top)
        if let request {
            (top, byteCount) = (request.payload, request.payload.range.count + request.carrier.reservedByteCount)
            requestHeaders = request.headers
        }
        root = top.kind == .object ? top : nil
        if let root {
            if let found = try? places.envelope(in: root) {
                envelope = found
                return
            }
            isAtTwoPlaces = places.hasTwo(in: root)
            let carriers = isAtTwoPlaces ? [] : Carrier.allCases
            carrier = carriers.first { (try? EnvelopePlaces([$0]).envelope(in: root))?.kind == .object }
        }
        if let envelope = root?["pushcrypt"] {
            if !places.names.contains("pushcrypt") { otherPlace = "pushcrypt" }
            return take(envelope)
        }
        if let found = Self.search(top, where: { $0["pushcrypt"] }) {
            if found.holder["aps"] != nil {
                enter(found, of: top)
            } else {
                otherPlace = Self.text(of: found.path + ["pushcrypt"])
                if otherPlace.map(places.names.contains) == true { otherPlace = nil }
            }
            return take(found.envelope)
        }
        if let found = Self.search(top, where: { $0["sealed"] != nil && $0["kid"] != nil ? $0 : nil }) {
            otherPlace = found.path.isEmpty ? "the top of the payload" : Self.text(of: found.path)
            return take(found.envelope)
        }
        // A payload that was never sealed may be wrapped, too.
        if root?["aps"] == nil, let found = Self.search(top, where: { $0["aps"] }) { enter(found, of: top) }
    }

    private mutating func enter(_ found: Found, of top: JSONValue) {
        root = found.holder
        byteCount = found.holder.range.count
        let path = Self.text(of: found.path)
        // Firebase takes it from an object, and Amazon SNS from a string.
        let isTakenOut =
            ["message.apns.payload", "apns.payload"].contains(path)
            || ["APNS", "APNS_SANDBOX"].contains(path) && top[path]?.kind == .string
            || found.path.count == 2 && found.path[0] == "Message" && found.path[1].hasPrefix("APNS")
        if !isTakenOut { wrapping = .inside(path) }
    }

    /// The names that are printed. Others may be content, such as the token of a device.
    private static let printedNames: Set = [
        "a", "alert", "apns", "APNS", "APNS_SANDBOX", "aps", "body", "content", "custom", "data", "encrypted", "extra",
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
    private static func search(_ value: JSONValue, where match: (JSONValue) -> JSONValue?) -> Found? {
        var visited = 0
        return search(value, [], &visited, where: match)
    }

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

/// The members of `pushcrypt`.
extension ReceivedPayload {
    /// Why the extension couldn't restore it, in the `userInfo` of a delivered notification; nil for other payloads.
    var reportedFailure: FailureClass? {
        guard let envelope, envelope["status"]?.isString("failed") == true else { return nil }
        return envelope["reason"]?.string.map(FailureClass.init(rawValue:))
    }

    /// Whether it is what the backend sent, sealed, and not what the extension left.
    var isSealed: Bool { envelope != nil && reportedFailure == nil }
    var kid: KeyID? { envelope?["kid"]?.utf8.flatMap(KeyID.init(utf8:)) }
    var skid: KeyID? { envelope?["skid"]?.utf8.flatMap(KeyID.init(utf8:)) }
    var sealedCharacters: ArraySlice<UInt8>? { envelope?["sealed"]?.utf8 }

    /// The bytes of `sealed`; nil if it isn't base64url.
    var sealed: [UInt8]? {
        sealedCharacters.flatMap { Base64URL.decode($0) }.flatMap { $0.isEmpty ? nil : $0 }
    }
}
