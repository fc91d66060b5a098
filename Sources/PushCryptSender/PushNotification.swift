/// A notification to write in code; encodes to an APNs payload.
///
/// Anything that isn't here (live activities, ...) can be sent as an `Encodable` type of your own or as JSON.
public struct PushNotification: Encodable, Sendable {
    /// `aps.alert.title`: the first line.
    public var title: String?
    /// `aps.alert.subtitle`: the second line.
    public var subtitle: String?
    /// `aps.alert.body`: the text.
    public var body: String?
    /// `aps.alert.title-loc-key`: a key of the app's Localizable.strings, in place of ``title``.
    public var titleLocKey: String?
    /// `aps.alert.title-loc-args`: the arguments of the text of ``titleLocKey``.
    public var titleLocArguments: [String]
    /// `aps.alert.loc-key`: a key of the app's Localizable.strings, in place of ``body``.
    public var bodyLocKey: String?
    /// `aps.alert.loc-args`: the arguments of the text of ``bodyLocKey``.
    public var bodyLocArguments: [String]
    /// `aps.badge`: the number on the app's icon; 0 removes it.
    public var badge: Int?
    /// `aps.sound`
    public var sound: Sound?
    /// `aps.category`: the name of a set of actions that the app has registered.
    public var category: String?
    /// `aps.thread-id`: notifications of one thread are shown as a group.
    public var threadID: String?
    /// `aps.interruption-level`
    public var interruptionLevel: InterruptionLevel?
    /// `aps.relevance-score`, 0 to 1: the highest of an app's notifications is shown first in a summary.
    public var relevanceScore: Double?
    /// `aps.target-content-id`: the window of the app that is brought to the front.
    public var targetContentID: String?
    /// `aps.content-available`: wakes the app as well. It is visible outside.
    public var isContentAvailable: Bool
    /// Members beside `aps`, for the app.
    public var custom: [String: any Encodable & Sendable]

    /// Parameters as the properties of the same names. At least one text or key of a text is needed: without, sealing throws
    /// `invalidPayload`.
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
        /// As APNs has it.
        public let rawValue: String

        /// A level that isn't named here.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// Adds it to the list, without lighting the screen or a sound.
        public static let passive = InterruptionLevel(rawValue: "passive")
        /// Lights the screen and can play a sound: the system's default.
        public static let active = InterruptionLevel(rawValue: "active")
        /// Also breaks through the system's controls of notifications; needs Apple's entitlement.
        public static let timeSensitive = InterruptionLevel(rawValue: "time-sensitive")
        /// Also plays a sound when the device is muted; needs Apple's entitlement.
        public static let critical = InterruptionLevel(rawValue: "critical")
    }

    /// A sound file of the app, or the system's default.
    public struct Sound: Hashable, Sendable, Encodable {
        let name: String
        /// Of a critical alert, 0 to 1.
        let criticalVolume: Double?

        /// The system's sound.
        public static let `default` = Sound(name: "default", criticalVolume: nil)

        /// A sound file in the app's bundle or its folder Library/Sounds.
        public static func named(_ name: String) -> Sound {
            Sound(name: name, criticalVolume: nil)
        }

        /// Plays even when the device is muted; needs Apple's entitlement.
        ///
        /// - Parameter volume: 0 to 1.
        public static func critical(_ name: String = "default", volume: Double = 1) -> Sound {
            Sound(name: name, criticalVolume: volume)
        }

        /// As APNs has it: a name, or a dictionary for a critical alert.
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

    /// As APNs has it: `aps`, and ``custom`` beside it.
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
