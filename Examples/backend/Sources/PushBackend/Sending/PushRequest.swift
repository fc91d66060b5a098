/// A request to APNs.
public struct PushRequest: Sendable {
    /// The device token.
    public var token: String
    /// The payload, UTF-8 JSON.
    public var body: [UInt8]
    /// `apns-id`
    public var id: String
    /// `apns-topic`
    public var topic: String
    /// `apns-push-type`
    public var pushType: String
    /// `apns-priority`
    public var priority: Int
    /// `apns-expiration` in UNIX seconds
    public var expiration: Int64
    /// `apns-collapse-id`
    public var collapseID: String?

    /// Creates a request; the parameters are the properties of the same names.
    public init(
        token: String, body: [UInt8], id: String, topic: String, pushType: String, priority: Int, expiration: Int64,
        collapseID: String? = nil
    ) {
        self.token = token
        self.body = body
        self.id = id
        self.topic = topic
        self.pushType = pushType
        self.priority = priority
        self.expiration = expiration
        self.collapseID = collapseID
    }
}

/// What APNs answered.
public struct PushResponse: Hashable, Sendable {
    /// The HTTP status.
    public var status: Int
    /// `reason` of the body; nil for an accepted push.
    public var reason: String?
    /// `timestamp` of the body: when the token ended, in milliseconds since 1970.
    public var timestamp: Int64?
    /// `retry-after`, in seconds
    public var retryAfter: Int64?

    /// Creates a response; the parameters are the properties of the same names.
    public init(status: Int, reason: String? = nil, timestamp: Int64? = nil, retryAfter: Int64? = nil) {
        self.status = status
        self.reason = reason
        self.timestamp = timestamp
        self.retryAfter = retryAfter
    }
}

/// Sends requests to one of Apple's two servers.
public protocol PushTransport: Sendable {
    /// - Throws: the error of the connection. Whether APNs has accepted the push is then unknown.
    func send(_ request: PushRequest, providerToken: String) async throws -> PushResponse
}
