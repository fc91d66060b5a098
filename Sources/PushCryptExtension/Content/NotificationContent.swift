import PushCryptPrimitives

/// What a notification shows and carries, as the system's own content object has it.
public struct NotificationContent: Hashable, Sendable {
    /// Literal text, a key of the app's Localizable.strings, or both; the key wins where the app has it.
    public struct Text: Hashable, Sendable {
        /// The text itself; nil if only the key is given.
        public var literal: String?
        /// A key of the app's Localizable.strings.
        public var locKey: String?
        /// What the text of the key has in place of `%@` and `%1$@`.
        public var locArguments: [String]

        /// Makes a text of its members.
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
        /// The name of a sound file of the app, or `default`.
        public var name: String
        /// Whether it is played even if the device is muted.
        public var isCritical: Bool
        /// Of a critical sound, 0 to 1.
        public var volume: Double?

        /// Makes a sound of its members.
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
        /// Recognised from the first bytes of the file.
        public var type: AttachmentType

        /// Makes an attachment of its members.
        public init(identifier: String, path: String, type: AttachmentType) {
            self.identifier = identifier
            self.path = path
            self.type = type
        }
    }

    /// `aps.alert.title` or its loc-key.
    public var title = Text()
    /// `aps.alert.subtitle` or its loc-key.
    public var subtitle = Text()
    /// `aps.alert.body`, its loc-key, or an `aps.alert` that is a string.
    public var body = Text()
    /// The number on the app's icon; nil leaves it as it is.
    public var badge: Int?
    /// The sound; nil is silent.
    public var sound: Sound?
    /// The category, which decides on the actions.
    public var category: String?
    /// The group of notifications that it belongs to.
    public var threadID: String?
    /// `passive`, `active`, `time-sensitive` or `critical`.
    public var interruptionLevel: String?
    /// Where it stands in the summary, from 0 to 1.
    public var relevanceScore: Double?
    /// The window of the app that it is about.
    public var targetContentID: String?
    /// What the app's Focus filters look at.
    public var filterCriteria: String?
    /// What the notification adds to the summary of its group.
    public var summaryArgument: String?
    /// How many items it stands for there.
    public var summaryArgumentCount: Int?
    /// What the app gets as `userInfo`: the payload as its sender wrote it, a JSON object, UTF-8.
    public var userInfo: [UInt8] = Self.emptyUserInfo
    /// The files that are shown with the text, in order.
    public var attachments: [Attachment] = []
    /// How many attachments the push names that couldn't be had; the text is shown all the same.
    public var missingAttachmentCount = 0

    static let emptyUserInfo = Array("{}".utf8)

    /// Content without text, which the system never shows.
    public init() {}

    /// Whether any of title, subtitle and body isn't empty. The system shows the original in place of content without text,
    /// so it is never handed such content.
    public var hasText: Bool { !(title.isEmpty && subtitle.isEmpty && body.isEmpty) }
}

extension NotificationContent {
    /// Removes the files of content that isn't shown: they hold what was decrypted, and nothing else would remove them.
    ///
    /// - Parameter other: the content in its place, which keeps its files.
    func removeFiles(notIn other: NotificationContent = NotificationContent()) {
        let kept = Set(other.attachments.map(\.path))
        for attachment in attachments where !kept.contains(attachment.path) { unsafe unlink(attachment.path) }
    }
}

extension String {
    /// Whether a user sees anything of it: a character that is neither white space nor without a glyph of its own.
    ///
    /// Without a glyph are control and format characters, what Unicode calls default ignorable (zero-width spaces and
    /// joiners, direction marks, variation selectors, Hangul fillers), noncharacters, the Braille pattern without dots and the
    /// object replacement character.
    var isVisible: Bool { unicodeScalars.contains(where: \.isVisible) }
}

extension Unicode.Scalar {
    fileprivate var isVisible: Bool {
        guard !properties.isWhitespace, !properties.isDefaultIgnorableCodePoint,
            !properties.isNoncharacterCodePoint, self != "\u{2800}", self != "\u{FFFC}"
        else { return false }
        return switch properties.generalCategory {
        case .control, .format: false
        default: true
        }
    }
}
