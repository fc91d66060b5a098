import PushCryptCore

/// A request to Firebase, Expo or OneSignal, as `SealedPush.request` makes it, and the payload that arrives.
enum ServiceRequest {
    /// Returns the payload that a device receives of the request, the first of an array; nil for anything else.
    static func payload(of value: JSONValue) -> JSONValue? {
        let request = value.kind == .array ? value.elements.first : value
        guard let request, request["aps"] == nil else { return nil }
        let members = firebase(request) ?? expo(request) ?? oneSignal(request)
        return members.flatMap { (try? JSONText(Array(object($0).utf8)))?.root }
    }

    private typealias Members = [(name: String, value: String?)]

    private static func firebase(_ request: JSONValue) -> Members? {
        guard let message = request["message"], let data = message["data"], data["pushcrypt"] != nil,
            let aps = message["apns"]?["payload"]?["aps"]
        else { return nil }
        return [("aps", text(aps)), ("pushcrypt", text(data["pushcrypt"]))]
    }

    private static func expo(_ request: JSONValue) -> Members? {
        guard let data = request["data"], data["pushcrypt"] != nil,
            ["to", "title", "body", "mutableContent"].contains(where: { request[$0] != nil })
        else { return nil }
        let alert: Members = ["title", "subtitle", "body"].map { ($0, text(request[$0])) }
        let mutable = request["mutableContent"]?.boolean == true ? "1" : nil
        let aps: Members = [
            ("alert", object(alert)), ("mutable-content", mutable), ("sound", text(request["sound"])),
            ("badge", text(request["badge"])),
        ]
        return [("aps", object(aps)), ("body", object([("pushcrypt", text(data["pushcrypt"]))]))]
    }

    private static func oneSignal(_ request: JSONValue) -> Members? {
        guard let data = request["data"], data["pushcrypt"] != nil, let contents = request["contents"] else {
            return nil
        }
        let languages = [("title", request["headings"]), ("subtitle", request["subtitle"]), ("body", contents)]
        let alert: Members = languages.map { ($0.0, text($0.1?["en"] ?? $0.1?.members.first?.value)) }
        let mutable = request["mutable_content"]?.boolean == true ? "1" : nil
        let custom = object([("a", object([("pushcrypt", text(data["pushcrypt"]))]))])
        return [("aps", object([("alert", object(alert)), ("mutable-content", mutable)])), ("custom", custom)]
    }

    private static func text(_ value: JSONValue?) -> String? {
        value.map { String(decoding: $0.rawBytes, as: UTF8.self) }
    }

    private static func object(_ members: Members) -> String {
        let present = members.compactMap { name, value in value.map { "\"\(name)\":\($0)" } }
        return "{" + present.joined(separator: ",") + "}"
    }
}
