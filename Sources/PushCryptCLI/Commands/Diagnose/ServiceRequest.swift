import PushCryptCore

/// A request to Firebase, Expo or OneSignal, or what `seal --request` prints for APNs, and the payload that arrives.
struct ServiceRequest {
    /// Its service, by the member that holds the envelope.
    let carrier: Carrier
    /// What a device receives of the first message.
    let payload: JSONValue
    /// The headers of the request to APNs.
    private(set) var headers: JSONValue?
    /// The members of the request that name the service extension.
    private(set) var mutable: [String] = []
    /// The member of a request to Firebase that has readable text beside the sealed payload.
    private(set) var plainMember: String?
    /// How many messages it has.
    private(set) var count = 1

    /// Reads a request; nil for anything else.
    init?(_ value: JSONValue) {
        let request = value.kind == .array ? value.elements.first : value
        guard let request, request["aps"] == nil else { return nil }
        let message = request["message"] ?? request
        if let apns = message["apns"], let payload = apns["payload"], let aps = payload["aps"] {
            let data = message["data"]?["pushcrypt"]
            guard data != nil || payload["pushcrypt"] != nil else { return nil }
            let arrived = data.map { Self.object([("aps", Self.text(aps)), ("pushcrypt", Self.text($0))]) }
            self.init(data == nil ? .fcm : .text, arrived ?? Self.text(payload))
            headers = apns["headers"]
            plainMember = message["notification"].map { _ in "notification" }
        } else if let body = request["body"]?.string, let given = request["headers"] {
            self.init(.apns, body)
            headers = given
        } else if let envelope = request["data"]?["pushcrypt"] {
            let isOneSignal = request["contents"] != nil
            self.init(isOneSignal ? .oneSignal : .expo, Self.payload(of: request, envelope, isOneSignal))
            mutable = ["mutableContent", "mutable_content", "mutable-content"].filter { request[$0] != nil }
        } else {
            return nil
        }
        if value.kind == .array { count = value.elements.count }
    }

    private init?(_ carrier: Carrier, _ text: String?) {
        guard let payload = text.flatMap({ try? JSONText(Array($0.utf8)) })?.root else { return nil }
        (self.carrier, self.payload) = (carrier, payload)
    }

    /// The member that makes iOS run the extension; nil if it is in `aps` of the request.
    var mutableName: String? {
        switch carrier {
        case .expo: "mutableContent"
        case .oneSignal: "mutable_content"
        case .apns, .rebuilt, .fcm, .text: nil
        }
    }

    private static func payload(of request: JSONValue, _ envelope: JSONValue, _ isOneSignal: Bool) -> String {
        let parts = isOneSignal ? ["headings", "subtitle", "contents"] : ["title", "subtitle", "body"]
        let alert = zip(["title", "subtitle", "body"], parts).map { name, part in
            (name, text(isOneSignal ? request[part]?["en"] : request[part]))
        }
        let isMutable = request[isOneSignal ? "mutable_content" : "mutableContent"]?.boolean == true
        let aps = object([
            ("alert", object(alert)), ("mutable-content", isMutable ? "1" : nil), ("sound", text(request["sound"])),
            ("badge", text(request["badge"])),
        ])
        let data = object([("pushcrypt", text(envelope))])
        return object([("aps", aps), isOneSignal ? ("custom", object([("a", data)])) : ("body", data)])
    }

    private static func text(_ value: JSONValue?) -> String? {
        value.map { String(decoding: $0.rawBytes, as: UTF8.self) }
    }

    private static func object(_ members: [(name: String, value: String?)]) -> String {
        let present = members.compactMap { name, value in value.map { "\"\(name)\":\($0)" } }
        return "{" + present.joined(separator: ",") + "}"
    }
}
