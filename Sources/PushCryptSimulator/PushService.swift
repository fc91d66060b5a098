import PushCryptCore
public import PushCryptExtension

/// The headers of a request to APNs that matter to the device.
public struct PushHeaders: Hashable, Sendable {
    /// `apns-topic`: the app's bundle identifier; with the suffix of ``pushType``, such as `.voip`, if that has one.
    public var topic: String
    /// `apns-push-type`: `alert`, `background`, or another kind, which no extension receives.
    public var pushType: String
    /// `apns-expiration`: when APNs stops trying, after 30 days at most. With 0 it tries once; with nil the header isn't sent.
    public var expiration: UnixTime?
    /// `apns-collapse-id`: at most 64 bytes. A notification replaces the earlier one with the same id.
    public var collapseID: String?

    /// Creates headers of an alert.
    public init(
        topic: String, pushType: String = "alert", expiration: UnixTime? = nil, collapseID: String? = nil
    ) {
        self.topic = topic
        self.pushType = pushType
        self.expiration = expiration
        self.collapseID = collapseID
    }

    /// The topic of a push type of an app; nil for an unknown type, and for one whose topic isn't an app's.
    package static func topic(of app: String, pushType: String) -> String? {
        PushService.topicSuffixes[pushType].flatMap { suffix in suffix.map { app + $0 } }
    }
}

/// Why APNs doesn't accept a request. The names and statuses are those of "Handling notification responses from APNs".
public struct PushRefusal: Hashable, Sendable, CustomStringConvertible {
    /// The HTTP status.
    public let status: Int
    /// The reason in the body of the response.
    public let reason: String

    /// The payload is larger than 4,096 bytes, or 5,120 bytes with the push type `voip`.
    public static let payloadTooLarge = PushRefusal(status: 413, reason: "PayloadTooLarge")
    /// The payload is empty.
    public static let payloadEmpty = PushRefusal(status: 400, reason: "PayloadEmpty")
    /// The topic isn't that of the app and the push type.
    public static let topicNotForToken = PushRefusal(status: 400, reason: "DeviceTokenNotForTopic")
    /// The request has no topic.
    public static let missingTopic = PushRefusal(status: 400, reason: "MissingTopic")
    /// The push type isn't a known one.
    public static let invalidPushType = PushRefusal(status: 400, reason: "InvalidPushType")
    /// The collapse id is longer than 64 bytes.
    public static let badCollapseID = PushRefusal(status: 400, reason: "BadCollapseId")
    /// The app was deleted, or its token is no longer valid.
    public static let unregistered = PushRefusal(status: 410, reason: "Unregistered")
    /// The payload isn't a JSON object with an object `aps`. Apple documents no reason for it; the strictest reading is that
    /// such a payload isn't delivered.
    public static let invalidPayload = PushRefusal(status: 400, reason: "(not documented: the payload isn't valid)")

    /// The status and the reason.
    public var description: String { "\(status) \(reason)" }
}

/// What APNs checks before it accepts a push: "Sending notification requests to APNs" and "Generating a remote notification".
enum PushService {
    /// "Generating a remote notification": the largest payload, in bytes.
    static func maximumByteCount(_ pushType: String) -> Int { pushType == "voip" ? 5_120 : 4_096 }
    /// "Sending notification requests to APNs": the largest `apns-collapse-id`.
    static let maximumCollapseIDByteCount = 64
    /// "Sending notification requests to APNs": the values of `apns-push-type`, with what the topic has after the app's bundle
    /// identifier; nil for a topic that isn't an app's.
    static let topicSuffixes: [String: String?] = [
        "alert": "", "background": "", "location": ".location-query", "voip": ".voip", "complication": ".complication",
        "fileprovider": ".pushkit.fileprovider", "mdm": nil, "liveactivity": ".push-type.liveactivity",
        "pushtotalk": ".voip-ptt", "widgets": ".push-type.widgets", "controls": ".push-type.controls",
    ]

    /// - Parameter topic: of the installed app; nil if it was deleted.
    static func refusal(of payload: [UInt8], _ headers: PushHeaders, installed topic: String?) -> PushRefusal? {
        if payload.isEmpty { return .payloadEmpty }
        if payload.count > maximumByteCount(headers.pushType) { return .payloadTooLarge }
        if headers.topic.isEmpty { return .missingTopic }
        guard let suffix = topicSuffixes[headers.pushType] else { return .invalidPushType }
        if let id = headers.collapseID, id.utf8.count > maximumCollapseIDByteCount { return .badCollapseID }
        guard let topic else { return .unregistered }
        guard let suffix, headers.topic == topic + suffix else { return .topicNotForToken }
        guard let root = (try? JSONText(payload))?.root, root["aps"]?.kind == .object else { return .invalidPayload }
        return nil
    }
}
