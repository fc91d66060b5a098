import PushCryptCore
import PushCryptFiles

/// The content of a notification: text, sound, badge, attachments and the members of the system's content object.
public struct NotificationContent: Hashable, Sendable {
    /// Literal text, a key of the app's Localizable.strings, or both. If the app has the key, its text is shown.
    public struct Text: Hashable, Sendable {
        /// The text itself; nil if only the key is given.
        public var literal: String?
        /// A key of the app's Localizable.strings. A key without a visible character becomes nil: it is no key.
        public var locKey: String? { didSet { locKey = Self.key(locKey) } }
        /// The arguments that replace `%@` and `%1$@` in the localised text.
        public var locArguments: [String]

        /// Creates a text.
        public init(literal: String? = nil, locKey: String? = nil, locArguments: [String] = []) {
            self.literal = literal
            self.locKey = Self.key(locKey)
            self.locArguments = locArguments
        }

        private static func key(_ name: String?) -> String? {
            name.flatMap { LocalizedKey.isKey($0) ? $0 : nil }
        }

        /// Whether a user would see nothing. White space and characters without a glyph aren't visible; a key counts as
        /// visible until it is looked up.
        public var isEmpty: Bool { !(literal ?? "").isVisible && locKey == nil }
    }

    /// The sound of a notification.
    public struct Sound: Hashable, Sendable {
        /// The name of a sound file of the app, or `default`. It is also `default` for a sound that a stage set in the system's
        /// content object, which doesn't expose the name; that sound is played unless a later stage changes this value.
        public var name: String { didSet { systemObject = nil } }
        /// Whether the sound is played even if the device is muted.
        public var isCritical: Bool { didSet { systemObject = nil } }
        /// The volume of a critical sound, from 0 to 1.
        public var volume: Double? { didSet { systemObject = nil } }
        /// The system's sound, if a stage set it.
        package var systemObject: SystemObject?

        /// Creates a sound.
        public init(name: String, isCritical: Bool = false, volume: Double? = nil) {
            self.name = name
            self.isCritical = isCritical
            self.volume = volume
        }
    }

    /// A file that is shown with the text.
    public struct Attachment: Hashable, Sendable {
        /// Unique among the attachments of one notification.
        public var identifier: String { didSet { systemObject = nil } }
        /// The path of the file. The system moves the file away when it shows the notification; a session removes it if it
        /// shows content without this attachment.
        public var path: String { didSet { systemObject = nil } }
        /// The type, detected from the first bytes of the file. nil for another type: then the system derives it from the
        /// file name.
        public var type: AttachmentType? { didSet { systemObject = nil } }
        /// How the system shows the thumbnail.
        public var thumbnail: Thumbnail { didSet { systemObject = nil } }
        /// The system's attachment, if a stage made it.
        package var systemObject: SystemObject?

        /// Creates an attachment.
        public init(identifier: String, path: String, type: AttachmentType?, thumbnail: Thumbnail = Thumbnail()) {
            self.identifier = identifier
            self.path = path
            self.type = type
            self.thumbnail = thumbnail
        }
    }

    /// How the system shows the thumbnail of an attachment.
    public struct Thumbnail: Hashable, Sendable {
        /// A part of an image: all members are fractions of its width or height, from 0 to 1.
        public struct Part: Hashable, Sendable {
            /// The left edge.
            public var x: Double
            /// The upper edge.
            public var y: Double
            /// The width.
            public var width: Double
            /// The height.
            public var height: Double

            /// Creates a part.
            public init(x: Double, y: Double, width: Double, height: Double) {
                (self.x, self.y, self.width, self.height) = (x, y, width, height)
            }
        }

        /// Whether no thumbnail is shown.
        public var isHidden: Bool
        /// The part that the thumbnail shows; nil shows all.
        public var part: Part?
        /// The seconds from a movie's start, or the number of an animated image's frame; nil is the system's choice.
        public var time: Double?

        /// Creates a thumbnail; without arguments it is the system's default.
        public init(isHidden: Bool = false, part: Part? = nil, time: Double? = nil) {
            (self.isHidden, self.part, self.time) = (isHidden, part, time)
        }
    }

    /// `aps.alert.title` or its loc-key.
    public var title = Text()
    /// `aps.alert.subtitle` or its loc-key.
    public var subtitle = Text()
    /// `aps.alert.body`, its loc-key, or an `aps.alert` that is a string.
    public var body = Text()
    /// `aps.alert.launch-image`: the image or storyboard that the app shows while it is launched. macOS has none.
    public var launchImage: String?
    /// The number on the app's icon; nil leaves it as it is.
    public var badge: Int?
    /// The sound; nil plays none.
    public var sound: Sound?
    /// The category, which determines the actions.
    public var category: String?
    /// The thread that groups notifications.
    public var threadID: String?
    /// `passive`, `active`, `time-sensitive` or `critical`.
    public var interruptionLevel: String?
    /// The rank in the summary, from 0 to 1.
    public var relevanceScore: Double?
    /// The window of the app that the notification is about.
    public var targetContentID: String?
    /// The text that the app's Focus filters evaluate.
    public var filterCriteria: String?
    /// The text that the notification adds to the summary of its group.
    public var summaryArgument: String?
    /// How many items the notification counts for in the summary.
    public var summaryArgumentCount: Int?
    /// The app's `userInfo`: the payload as its sender wrote it, a JSON object, UTF-8.
    public var userInfo: [UInt8] = Self.emptyUserInfo
    /// The files that are shown with the text, in order.
    public var attachments: [Attachment] = []
    /// How many attachments of the push couldn't be fetched.
    public var missingAttachmentCount = 0
    /// Whether nothing is to be shown: a stage sets it, for example for a muted conversation, and leaves the text as it is.
    /// Without ``ExtensionConfiguration/hasFilteringEntitlement`` the text is shown as passive and without sound.
    public var isSuppressed = false
    /// The system's content object that ``ExtensionConfiguration/finish`` made of this content. It is shown as it is.
    package var systemObject: SystemObject?

    static let emptyUserInfo = Array("{}".utf8)

    /// Creates content without text, which the system never shows.
    public init() {}

    /// Whether title, subtitle or body isn't empty. The system shows the original push if it receives content without text,
    /// so sessions never hand over such content.
    public var hasText: Bool { !(title.isEmpty && subtitle.isEmpty && body.isEmpty) }
}

extension NotificationContent {
    /// The content without sound or interruption.
    var passive: NotificationContent {
        var content = self
        (content.sound, content.interruptionLevel) = (nil, "passive")
        (content.isSuppressed, content.systemObject) = (false, nil)
        return content
    }

    /// The content that the system shows for an APNs payload if no extension runs; nil if the payload has no text.
    package init?(unmodified payload: [UInt8]) {
        guard let text = try? JSONText(payload) else { return nil }
        self.init(payload: text, userInfo: payload)
        guard hasText else { return nil }
    }

    /// The badge and the sound of an APNs payload without text; nil if the payload has text, or neither of them.
    package init?(withoutText payload: [UInt8]) {
        guard let text = try? JSONText(payload) else { return nil }
        self.init(payload: text, userInfo: payload)
        guard !hasText, badge != nil || sound != nil else { return nil }
    }

    /// Reads an APNs payload. Like the system, it ignores members of the wrong type.
    ///
    /// - Parameter userInfo: a JSON object for the app.
    init(payload: JSONText, userInfo: [UInt8]) {
        guard let aps = payload.root["aps"] else { return }
        if let alert = aps["alert"] {
            setText(from: alert)
            launchImage = alert.value("launch-image", of: .alert)?.string
            summaryArgument = alert.value("summary-arg", of: .alert)?.string
            summaryArgumentCount = alert.value("summary-arg-count", of: .alert)?.integer
        }
        badge = aps.value("badge", of: .aps)?.integer
        sound = aps.value("sound", of: .aps).flatMap(Sound.init(json:))
        category = aps.value("category", of: .aps)?.string
        threadID = aps.value("thread-id", of: .aps)?.string
        interruptionLevel = aps.value("interruption-level", of: .aps)?.string
        relevanceScore = aps.value("relevance-score", of: .aps)?.double
        targetContentID = aps.value("target-content-id", of: .aps)?.string
        filterCriteria = aps.value("filter-criteria", of: .aps)?.string
        self.userInfo = userInfo
    }

    /// - Parameter alert: `aps.alert`: an object, or a string that is the body.
    mutating func setText(from alert: JSONValue) {
        title = Text(.title, in: alert)
        subtitle = Text(.subtitle, in: alert)
        body = alert.string.map { text in Text(literal: text) } ?? Text(.body, in: alert)
    }
}

extension NotificationContent.Text {
    /// Reads a part of an alert. A key whose text can't be made of its arguments is left out.
    fileprivate init(_ part: AlertPart, in alert: JSONValue) {
        let key = LocalizedKey(part, in: alert)
        let arguments = key?.arguments
        self.init(
            literal: alert[part.rawValue]?.string, locKey: arguments == nil ? nil : key?.name,
            locArguments: arguments ?? [])
    }
}

extension NotificationContent.Sound {
    init?(json: JSONValue) {
        guard json.kind == .object || json.string?.isEmpty == false else { return nil }
        self.init(
            name: json.string ?? json.value("name", of: .sound)?.string ?? "default",
            isCritical: json.value("critical", of: .sound)?.protocolInteger == 1,
            volume: json.value("volume", of: .sound)?.double)
    }
}

extension NotificationContent {
    /// Removes the files that other content, which is shown instead, doesn't have. They contain plaintext, and nothing else
    /// would remove them.
    func removeFiles(notIn other: NotificationContent) {
        let kept = Set(other.attachments.map(\.path))
        for attachment in attachments where !kept.contains(attachment.path) { FileSystem.removeFile(attachment.path) }
    }
}

extension NotificationContent: CustomStringConvertible, CustomReflectable {
    /// The names of the members that are set, never their values, as in `notification content with title, body, badge`.
    public var description: String {
        let members: [(name: String, isPresent: Bool)] = [
            ("title", !title.isEmpty), ("subtitle", !subtitle.isEmpty), ("body", !body.isEmpty),
            ("badge", badge != nil),
            ("sound", sound != nil), ("category", category != nil), ("thread", threadID != nil),
            ("attachments", !attachments.isEmpty),
        ]
        let names = members.filter(\.isPresent).map(\.name)
        return "notification content with \(names.isEmpty ? "nothing" : names.joined(separator: ", "))"
    }
    /// Nothing, so that `dump` shows only the description.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// An object of the system, for what its class doesn't let an app read: the name of a sound, the options of an attachment,
/// the style of a communication notification.
///
/// Unchecked: the object is immutable.
package struct SystemObject: Hashable, @unchecked Sendable {
    package let object: AnyObject

    package init(_ object: AnyObject) { self.object = object }

    package static func == (left: SystemObject, right: SystemObject) -> Bool { left.object === right.object }

    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(object)) }
}
