/// What a notification shows and carries, as the system's own content object has it.
public struct NotificationContent: Hashable, Sendable {
    /// Literal text, a key of the app's Localizable.strings, or both; the key wins where the app has it.
    public struct Text: Hashable, Sendable {
        public var literal: String?
        public var locKey: String?
        public var locArguments: [String]

        public init(literal: String? = nil, locKey: String? = nil, locArguments: [String] = []) {
            self.literal = literal
            self.locKey = locKey
            self.locArguments = locArguments
        }

        /// Whether a user would see nothing of it. White space and characters without a glyph are not text; a key counts
        /// as text until it is looked up.
        public var isEmpty: Bool { !(literal ?? "").isVisible && !(locKey ?? "").isVisible }
    }

    /// A sound file of the app, or `default`.
    public struct Sound: Hashable, Sendable {
        public var name: String
        public var isCritical: Bool
        /// Of a critical sound, 0 to 1.
        public var volume: Double?

        public init(name: String, isCritical: Bool = false, volume: Double? = nil) {
            self.name = name
            self.isCritical = isCritical
            self.volume = volume
        }
    }

    /// A file that is shown with the text.
    public struct Attachment: Hashable, Sendable {
        /// Unique among those of one notification.
        public var identifier: String
        /// The file belongs to the notification: the system moves it away when the notification is shown, and a session
        /// removes it when it shows content without it.
        public var path: String
        public var type: AttachmentType

        public init(identifier: String, path: String, type: AttachmentType) {
            self.identifier = identifier
            self.path = path
            self.type = type
        }
    }

    public var title = Text()
    public var subtitle = Text()
    public var body = Text()
    public var badge: Int?
    public var sound: Sound?
    public var category: String?
    public var threadID: String?
    /// `passive`, `active`, `time-sensitive` or `critical`.
    public var interruptionLevel: String?
    public var relevanceScore: Double?
    public var targetContentID: String?
    /// What the app's Focus filters look at.
    public var filterCriteria: String?
    /// What the notification adds to the summary of its group.
    public var summaryArgument: String?
    /// How many items it stands for there.
    public var summaryArgumentCount: Int?
    /// What the app gets as `userInfo`: the payload as its sender wrote it, a JSON object, UTF-8.
    public var userInfo: [UInt8] = Self.emptyUserInfo
    public var attachments: [Attachment] = []
    /// How many attachments the push names that couldn't be had; the text is shown all the same.
    public var missingAttachmentCount = 0

    static let emptyUserInfo = Array("{}".utf8)

    public init() {}

    /// Whether any of title, subtitle and body isn't empty. The system shows the original in place of content without text,
    /// so it is never handed such content.
    public var hasText: Bool { !(title.isEmpty && subtitle.isEmpty && body.isEmpty) }
}
