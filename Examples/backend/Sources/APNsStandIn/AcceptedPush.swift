/// A push that the stand-in has accepted for a device.
public struct AcceptedPush: Sendable {
    /// The device token, hexadecimal digits in lower case.
    public let token: String
    /// The body of the request, UTF-8 JSON of at most 4,096 bytes.
    public let payload: [UInt8]
    /// `apns-id`: that of the request, or one that the stand-in made.
    public let id: String
    /// `apns-topic`
    public let topic: String
    /// `apns-push-type`
    public let pushType: String
    /// `apns-priority`: 10, 5 or 1.
    public let priority: Int
    /// `apns-expiration` in UNIX seconds; nil without the header.
    public let expiration: Int64?
    /// `apns-collapse-id`
    public let collapseID: String?

    /// The push as a line for `pushcrypt simulate`: `{"token": TOKEN, "topic": TOPIC, "payload": PAYLOAD}`. A payload on several lines
    /// is written on one.
    public var line: [UInt8] {
        // In JSON a line feed is only white space.
        let payload = payload.map { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") ? UInt8(ascii: " ") : $0 }
        let topic = topic.filter { $0 != "\"" && $0 != "\\" }
        return Array(#"{"token":"\#(token)","topic":"\#(topic)","payload":"#.utf8) + payload + Array("}\n".utf8)
    }
}
