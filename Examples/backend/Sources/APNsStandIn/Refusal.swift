/// Why APNs refuses a request: a status and a reason of Apple's page "Handling notification responses from APNs".
public struct Refusal: Hashable, Sendable {
    /// The HTTP status.
    public let status: Int
    /// The member `reason` of the response.
    public let reason: String
    /// The member `timestamp` of a response with the status 410: when APNs confirmed that the token isn't valid any more, in
    /// milliseconds since 1970.
    public var timestampInMilliseconds: Int64?
    /// The header `retry-after`.
    public var retryAfterInSeconds: Int?

    init(_ status: Int, _ reason: String) {
        self.status = status
        self.reason = reason
    }

    /// Every reason of the page, in its order.
    public static let all: [Refusal] = [
        Refusal(400, "BadCollapseId"), Refusal(400, "BadDeviceToken"), Refusal(400, "BadExpirationDate"),
        Refusal(400, "BadMessageId"), Refusal(400, "BadPriority"), Refusal(400, "BadTopic"),
        Refusal(400, "DeviceTokenNotForTopic"), Refusal(400, "DuplicateHeaders"), Refusal(400, "IdleTimeout"),
        Refusal(400, "InvalidPushType"), Refusal(400, "MissingDeviceToken"), Refusal(400, "MissingTopic"),
        Refusal(400, "PayloadEmpty"), Refusal(400, "TopicDisallowed"), Refusal(403, "BadCertificate"),
        Refusal(403, "BadCertificateEnvironment"), Refusal(403, "ExpiredProviderToken"), Refusal(403, "Forbidden"),
        Refusal(403, "InvalidProviderToken"), Refusal(403, "MissingProviderToken"),
        Refusal(403, "UnrelatedKeyIdInToken"), Refusal(403, "BadEnvironmentKeyIdInToken"), Refusal(404, "BadPath"),
        Refusal(405, "MethodNotAllowed"), Refusal(410, "ExpiredToken"), Refusal(410, "Unregistered"),
        Refusal(413, "PayloadTooLarge"), Refusal(429, "TooManyProviderTokenUpdates"),
        Refusal(429, "TooManyRequests"), Refusal(500, "InternalServerError"), Refusal(503, "ServiceUnavailable"),
        Refusal(503, "Shutdown"),
    ]

    /// Returns the refusal with a reason of the page; nil for another reason.
    public static func named(_ reason: String) -> Refusal? { all.first { $0.reason == reason } }

    static let badCollapseID = Refusal(400, "BadCollapseId")
    static let badDeviceToken = Refusal(400, "BadDeviceToken")
    static let badExpirationDate = Refusal(400, "BadExpirationDate")
    static let badMessageID = Refusal(400, "BadMessageId")
    static let badPriority = Refusal(400, "BadPriority")
    static let badTopic = Refusal(400, "BadTopic")
    static let topicNotForToken = Refusal(400, "DeviceTokenNotForTopic")
    static let duplicateHeaders = Refusal(400, "DuplicateHeaders")
    static let invalidPushType = Refusal(400, "InvalidPushType")
    static let missingDeviceToken = Refusal(400, "MissingDeviceToken")
    static let missingTopic = Refusal(400, "MissingTopic")
    static let payloadEmpty = Refusal(400, "PayloadEmpty")
    static let topicDisallowed = Refusal(400, "TopicDisallowed")
    static let expiredProviderToken = Refusal(403, "ExpiredProviderToken")
    static let invalidProviderToken = Refusal(403, "InvalidProviderToken")
    static let missingProviderToken = Refusal(403, "MissingProviderToken")
    static let badPath = Refusal(404, "BadPath")
    static let methodNotAllowed = Refusal(405, "MethodNotAllowed")
    static let payloadTooLarge = Refusal(413, "PayloadTooLarge")
    static let tooManyTokenUpdates = Refusal(429, "TooManyProviderTokenUpdates")

    static func unregistered(since milliseconds: Int64) -> Refusal {
        var refusal = Refusal(410, "Unregistered")
        refusal.timestampInMilliseconds = milliseconds
        return refusal
    }

    /// The body of the response.
    var json: String {
        guard let timestampInMilliseconds else { return #"{"reason":"\#(reason)"}"# }
        return #"{"reason":"\#(reason)","timestamp":\#(timestampInMilliseconds)}"#
    }
}
