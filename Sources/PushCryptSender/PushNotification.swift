/// A notification to write in code; encodes to an APNs payload.
///
/// Anything that isn't here (live activities, ...) can be sent as an `Encodable` type of your own or as JSON.
public struct PushNotification: Encodable, Sendable {
    public var title: String?
    public var subtitle: String?
    public var body: String?
    /// Keys of the app's Localizable.strings with their arguments, in place of literal text.
    public var titleLocKey: String?
    public var titleLocArguments: [String]
    public var bodyLocKey: String?
    public var bodyLocArguments: [String]
    public var badge: Int?
    public var sound: Sound?
    public var category: String?
    public var threadID: String?
    public var interruptionLevel: InterruptionLevel?
    /// 0 to 1.
    public var relevanceScore: Double?
    public var targetContentID: String?
    /// Wakes the app as well; seen outside.
    public var isContentAvailable: Bool
    /// Members beside `aps`, for the app.
    public var custom: [String: any Encodable & Sendable]

    public init(
        title: String? = nil, subtitle: String? = nil, body: String? = nil, titleLocKey: String? = nil,
        titleLocArguments: [String] = [], bodyLocKey: String? = nil, bodyLocArguments: [String] = [],
        badge: Int? = nil, sound: Sound? = nil, category: String? = nil, threadID: String? = nil,
        interruptionLevel: InterruptionLevel? = nil, relevanceScore: Double? = nil, targetContentID: String? = nil,
        isContentAvailable: Bool = false, custom: [String: any Encodable & Sendable] = [:]
    ) {
        self.title = title
        self.subtitle = subtitle
        self.body = body
        self.titleLocKey = titleLocKey
        self.titleLocArguments = titleLocArguments
        self.bodyLocKey = bodyLocKey
        self.bodyLocArguments = bodyLocArguments
        self.badge = badge
        self.sound = sound
        self.category = category
        self.threadID = threadID
        self.interruptionLevel = interruptionLevel
        self.relevanceScore = relevanceScore
        self.targetContentID = targetContentID
        self.isContentAvailable = isContentAvailable
        self.custom = custom
    }

    /// When and how the system interrupts.
    public struct InterruptionLevel: RawRepresentable, Hashable, Sendable, Encodable {
        public let rawValue: String

        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        public static let passive = InterruptionLevel(rawValue: "passive")
        public static let active = InterruptionLevel(rawValue: "active")
        public static let timeSensitive = InterruptionLevel(rawValue: "time-sensitive")
        public static let critical = InterruptionLevel(rawValue: "critical")
    }

    /// A sound file of the app, or the system's default.
    public struct Sound: Hashable, Sendable, Encodable {
        let name: String
        /// Of a critical alert, 0 to 1.
        let criticalVolume: Double?

        public static let `default` = Sound(name: "default", criticalVolume: nil)

        public static func named(_ name: String) -> Sound {
            Sound(name: name, criticalVolume: nil)
        }

        /// Plays even when the device is muted; needs Apple's entitlement.
        public static func critical(_ name: String = "default", volume: Double = 1) -> Sound {
            Sound(name: name, criticalVolume: volume)
        }

        public func encode(to encoder: any Encoder) throws {
            guard let criticalVolume else { return try name.encode(to: encoder) }
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(1, forKey: "critical")
            try container.encode(name, forKey: "name")
            try container.encode(criticalVolume, forKey: "volume")
        }
    }
}

extension PushNotification {
    struct Key: CodingKey, ExpressibleByStringLiteral {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init(stringLiteral value: String) { stringValue = value }
        init?(intValue: Int) { nil }
    }

    public func encode(to encoder: any Encoder) throws {
        var root = encoder.container(keyedBy: Key.self)
        for (name, value) in custom where name != "aps" {
            try root.encode(value, forKey: Key(stringValue: name))
        }
        var aps = root.nestedContainer(keyedBy: Key.self, forKey: "aps")
        try encodeAlert(into: aps.nestedContainer(keyedBy: Key.self, forKey: "alert"))
        try aps.encodeIfPresent(badge, forKey: "badge")
        try aps.encodeIfPresent(sound, forKey: "sound")
        try aps.encodeIfPresent(category, forKey: "category")
        try aps.encodeIfPresent(threadID, forKey: "thread-id")
        try aps.encodeIfPresent(interruptionLevel, forKey: "interruption-level")
        try aps.encodeIfPresent(relevanceScore, forKey: "relevance-score")
        try aps.encodeIfPresent(targetContentID, forKey: "target-content-id")
        if isContentAvailable { try aps.encode(1, forKey: "content-available") }
    }

    private func encodeAlert(into container: KeyedEncodingContainer<Key>) throws {
        var alert = container
        try alert.encodeIfPresent(title, forKey: "title")
        try alert.encodeIfPresent(subtitle, forKey: "subtitle")
        try alert.encodeIfPresent(body, forKey: "body")
        try alert.encodeIfPresent(titleLocKey, forKey: "title-loc-key")
        if !titleLocArguments.isEmpty { try alert.encode(titleLocArguments, forKey: "title-loc-args") }
        try alert.encodeIfPresent(bodyLocKey, forKey: "loc-key")
        if !bodyLocArguments.isEmpty { try alert.encode(bodyLocArguments, forKey: "loc-args") }
    }
}
