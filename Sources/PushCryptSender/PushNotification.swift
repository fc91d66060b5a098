/// A notification that encodes to an APNs payload.
///
/// For any other payload, use your own `Encodable` type or JSON. A live activity can't be sealed: iOS runs no extension for
/// it. <doc:AppleKeys> has all keys.
public struct PushNotification: Encodable, Sendable {
    /// `aps.alert.title`: the first line.
    public var title: String?
    /// `aps.alert.subtitle`: the second line.
    public var subtitle: String?
    /// `aps.alert.body`: the text.
    public var body: String?
    /// `aps.alert.title-loc-key`: a key of the app's Localizable.strings. If the app lacks it, ``title`` is shown.
    public var titleLocKey: String?
    /// `aps.alert.title-loc-args`: the arguments of the text of ``titleLocKey``.
    public var titleLocArguments: [String]
    /// `aps.alert.subtitle-loc-key`: a key of the app's Localizable.strings. If the app lacks it, ``subtitle`` is shown.
    public var subtitleLocKey: String?
    /// `aps.alert.subtitle-loc-args`: the arguments of the text of ``subtitleLocKey``.
    public var subtitleLocArguments: [String]
    /// `aps.alert.loc-key`: a key of the app's Localizable.strings. If the app lacks it, ``body`` is shown.
    public var bodyLocKey: String?
    /// `aps.alert.loc-args`: the arguments of the text of ``bodyLocKey``.
    public var bodyLocArguments: [String]
    /// `aps.alert.launch-image`: the image or storyboard that the app shows while it is launched.
    public var launchImage: String?
    /// `aps.badge`: the number on the app's icon; 0 removes it.
    public var badge: Int?
    /// `aps.sound`
    public var sound: Sound?
    /// `aps.category`: the name of a registered set of actions.
    public var category: String?
    /// `aps.thread-id`: the system groups the notifications of one thread.
    public var threadID: String?
    /// `aps.interruption-level`
    public var interruptionLevel: InterruptionLevel?
    /// `aps.relevance-score`, 0 to 1: a summary shows the app's notification with the highest score first.
    public var relevanceScore: Double?
    /// `aps.target-content-id`: the window of the app to bring to the front.
    public var targetContentID: String?
    /// `aps.filter-criteria`: the text that the app's Focus filters evaluate.
    public var filterCriteria: String?
    /// `aps.content-available`: also wakes the app. It is not encrypted.
    public var isContentAvailable: Bool
    /// Members beside `aps`, for the app. With a member `aps` or `pushcrypt`, sealing throws
    /// `invalidPayload`.
    public var custom: [String: any Encodable & Sendable]

    /// Makes a notification; the parameters are the properties of the same names. Without a text or a key for one, sealing
    /// throws `invalidPayload`.
    public init(
        title: String? = nil, subtitle: String? = nil, body: String? = nil, titleLocKey: String? = nil,
        titleLocArguments: [String] = [], subtitleLocKey: String? = nil, subtitleLocArguments: [String] = [],
        bodyLocKey: String? = nil, bodyLocArguments: [String] = [],
        launchImage: String? = nil, badge: Int? = nil, sound: Sound? = nil, category: String? = nil,
        threadID: String? = nil, interruptionLevel: InterruptionLevel? = nil, relevanceScore: Double? = nil,
        targetContentID: String? = nil, filterCriteria: String? = nil, isContentAvailable: Bool = false,
        custom: [String: any Encodable & Sendable] = [:]
    ) {
        self.title = title
        self.subtitle = subtitle
        self.body = body
        self.titleLocKey = titleLocKey
        self.titleLocArguments = titleLocArguments
        self.subtitleLocKey = subtitleLocKey
        self.subtitleLocArguments = subtitleLocArguments
        self.bodyLocKey = bodyLocKey
        self.bodyLocArguments = bodyLocArguments
        self.launchImage = launchImage
        self.badge = badge
        self.sound = sound
        self.category = category
        self.threadID = threadID
        self.interruptionLevel = interruptionLevel
        self.relevanceScore = relevanceScore
        self.targetContentID = targetContentID
        self.filterCriteria = filterCriteria
        self.isContentAvailable = isContentAvailable
        self.custom = custom
    }

    /// Whether and how the system interrupts the user.
    public struct InterruptionLevel: RawRepresentable, Hashable, Sendable, Encodable {
        /// The name in APNs.
        public let rawValue: String

        /// Makes a level of its name in APNs.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Adds the notification to the list, without a sound and without lighting the screen.
        public static let passive = InterruptionLevel(rawValue: "passive")
        /// Lights the screen and can play a sound: the system's default.
        public static let active = InterruptionLevel(rawValue: "active")
        /// Also bypasses Focus and the notification summary; needs Apple's entitlement.
        public static let timeSensitive = InterruptionLevel(rawValue: "time-sensitive")
        /// Also plays a sound when the device is muted; needs Apple's entitlement.
        public static let critical = InterruptionLevel(rawValue: "critical")
    }

    /// A sound file of the app, or the system's default.
    public struct Sound: Hashable, Sendable, Encodable {
        let name: String
        /// 0 to 1, for a critical alert; otherwise nil.
        let criticalVolume: Double?

        /// The system's sound.
        public static let `default` = Sound(name: "default", criticalVolume: nil)

        /// A sound file in the app's bundle or its folder Library/Sounds.
        public static func named(_ name: String) -> Sound { Sound(name: name, criticalVolume: nil) }

        /// Plays even when the device is muted; needs Apple's entitlement.
        ///
        /// - Parameter volume: 0 to 1.
        public static func critical(_ name: String = "default", volume: Double = 1) -> Sound {
            Sound(name: name, criticalVolume: volume)
        }

        /// Encodes a name, or a dictionary for a critical alert.
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

    /// Encodes `aps` and the members of ``custom`` beside it.
    public func encode(to encoder: any Encoder) throws {
        var root = encoder.container(keyedBy: Key.self)
        for (name, value) in custom {
            guard name != "aps", name != "pushcrypt" else {
                throw SenderError(
                    .invalidPayload, "custom can't have a member \(name): pushcrypt writes this member of the payload")
            }
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
        try aps.encodeIfPresent(filterCriteria, forKey: "filter-criteria")
        if isContentAvailable { try aps.encode(1, forKey: "content-available") }
    }

    private func encodeAlert(into container: KeyedEncodingContainer<Key>) throws {
        var alert = container
        try alert.encodeIfPresent(title, forKey: "title")
        try alert.encodeIfPresent(subtitle, forKey: "subtitle")
        try alert.encodeIfPresent(body, forKey: "body")
        try alert.encodeIfPresent(titleLocKey, forKey: "title-loc-key")
        if !titleLocArguments.isEmpty { try alert.encode(titleLocArguments, forKey: "title-loc-args") }
        try alert.encodeIfPresent(subtitleLocKey, forKey: "subtitle-loc-key")
        if !subtitleLocArguments.isEmpty { try alert.encode(subtitleLocArguments, forKey: "subtitle-loc-args") }
        try alert.encodeIfPresent(bodyLocKey, forKey: "loc-key")
        if !bodyLocArguments.isEmpty { try alert.encode(bodyLocArguments, forKey: "loc-args") }
        try alert.encodeIfPresent(launchImage, forKey: "launch-image")
    }
}

extension PushNotification: CustomStringConvertible, CustomReflectable {
    /// The names of the members, never their values, as in `notification with title, body, badge`.
    public var description: String {
        let members: [(name: String, isPresent: Bool)] = [
            ("title", title != nil || titleLocKey != nil), ("subtitle", subtitle != nil || subtitleLocKey != nil),
            ("body", body != nil || bodyLocKey != nil), ("badge", badge != nil), ("sound", sound != nil),
            ("category", category != nil), ("thread", threadID != nil), ("custom members", !custom.isEmpty),
        ]
        let names = members.filter(\.isPresent).map(\.name)
        return "notification with \(names.isEmpty ? "nothing" : names.joined(separator: ", "))"
    }
    /// Nothing, so that `dump` shows only the description.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
