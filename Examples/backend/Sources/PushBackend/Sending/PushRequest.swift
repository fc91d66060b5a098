/// A request to APNs.
public struct PushRequest: Sendable {
    /// The device token.
    public var token: String
    /// The payload, UTF-8 JSON.
    public var body: [UInt8]
    /// `apns-id`, `apns-topic` and the others, without `authorization`.
    public var headers: [String: String]

    /// Creates a request; the parameters are the properties of the same names.
    public init(token: String, body: [UInt8], headers: [String: String]) {
        self.token = token
        self.body = body
        self.headers = headers
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

/// Why a request was never sent, and never will be.
public struct InvalidRequest: Error, Hashable, Sendable {
    /// What is wrong with it, without its values.
    public let reason: String

    /// Creates an error.
    public init(_ reason: String) { self.reason = reason }
}

/// Sends requests to one of Apple's two servers.
public protocol PushTransport: Sendable {
    /// - Throws: `InvalidRequest` if each attempt would fail, because the request itself is wrong; otherwise the error of the
    ///   connection. Whether APNs has accepted the push is then unknown.
    func send(_ request: PushRequest, providerToken: String) async throws -> PushResponse
}
