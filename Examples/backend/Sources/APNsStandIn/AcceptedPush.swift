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
}
