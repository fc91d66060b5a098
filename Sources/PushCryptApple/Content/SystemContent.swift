#if canImport(UserNotifications) && !os(tvOS)
import Foundation
public import PushCryptExtension
public import UserNotifications

extension NotificationContent {
    /// The content as the system's content object.
    ///
    /// It is a new object, not a copy of the received one, so it has no members of the outer payload. The summary members
    /// are left out, because the system ignores them since iOS 15. The system resolves a loc-key when it shows the
    /// notification. An attachment that the system refuses is left out; a session reports it as `attachmentFailed`.
    public var systemContent: UNMutableNotificationContent { converted().system }

    /// The system's content object, and the attachments that the system refuses.
    func converted() -> (system: UNMutableNotificationContent, refused: [Attachment]) {
        let system = UNMutableNotificationContent()
        system.title = title.systemText
        system.subtitle = subtitle.systemText
        system.body = body.systemText
        system.badge = badge.map { NSNumber(value: $0) }
        system.sound = sound?.systemSound
        system.categoryIdentifier = category ?? ""
        system.threadIdentifier = threadID ?? ""
        system.interruptionLevel = UNNotificationInterruptionLevel(payloadName: interruptionLevel) ?? .active
        system.relevanceScore = relevanceScore ?? 0
        system.targetContentIdentifier = targetContentID
        system.filterCriteria = filterCriteria
        system.userInfo = UserInfoJSON.dictionary(userInfo)
        var refused: [Attachment] = []
        for attachment in attachments {
            do { system.attachments.append(try attachment.systemAttachment) } catch { refused.append(attachment) }
        }
        return (system, refused)
    }

    /// Reads the system's content object. A sound becomes the default sound or the default critical sound, because Apple's
    /// class doesn't expose its name. Attachments of undocumented types are left out.
    public init(_ system: UNNotificationContent) {
        self.init()
        title = Text(systemText: system.title)
        subtitle = Text(systemText: system.subtitle)
        body = Text(systemText: system.body)
        badge = system.badge?.intValue
        sound = system.sound.map(Sound.init(_:))
        category = system.categoryIdentifier.isEmpty ? nil : system.categoryIdentifier
        threadID = system.threadIdentifier.isEmpty ? nil : system.threadIdentifier
        interruptionLevel = system.interruptionLevel.payloadName
        relevanceScore = system.relevanceScore == 0 ? nil : system.relevanceScore
        targetContentID = system.targetContentIdentifier
        filterCriteria = system.filterCriteria
        userInfo = UserInfoJSON.json(system.userInfo)
        attachments = system.attachments.compactMap(Attachment.init(_:))
    }
}

extension NotificationContent.Text {
    fileprivate init(systemText: String) { self.init(literal: systemText.isEmpty ? nil : systemText) }

    fileprivate var systemText: String {
        guard let locKey, !locKey.isEmpty else { return literal ?? "" }
        return NSString.localizedUserNotificationString(forKey: locKey, arguments: locArguments)
    }
}

extension UNNotificationInterruptionLevel {
    fileprivate init?(payloadName: String?) {
        switch payloadName {
        case "passive": self = .passive
        case "active": self = .active
        case "time-sensitive": self = .timeSensitive
        case "critical": self = .critical
        default: return nil
        }
    }

    /// nil for `active`, the default of a payload, and for levels that this library doesn't know.
    fileprivate var payloadName: String? {
        switch self {
        case .passive: "passive"
        case .timeSensitive: "time-sensitive"
        case .critical: "critical"
        default: nil
        }
    }
}

extension NotificationContent.Attachment {
    /// Has a type hint. Without it the system would derive the type from the file name. Throws the system's error for a file
    /// that it can't show.
    var systemAttachment: UNNotificationAttachment {
        get throws {
            try UNNotificationAttachment(
                identifier: identifier, url: URL(fileURLWithPath: path),
                options: [UNNotificationAttachmentOptionsTypeHintKey: type.uniformTypeIdentifier])
        }
    }

    /// nil for an undocumented type.
    init?(_ system: UNNotificationAttachment) {
        guard let type = AttachmentType.all.first(where: { $0.uniformTypeIdentifier == system.type }) else {
            return nil
        }
        self.init(identifier: system.identifier, path: system.url.path, type: type)
    }
}

extension NotificationContent.Sound {
    var systemSound: UNNotificationSound {
        let volume = volume.map { Float(min(max($0, 0), 1)) }
        #if !os(watchOS)
        if name != "default" {
            let name = UNNotificationSoundName(rawValue: name)
            guard isCritical else { return UNNotificationSound(named: name) }
            guard let volume else { return .criticalSoundNamed(name) }
            return .criticalSoundNamed(name, withAudioVolume: volume)
        }
        #endif
        guard isCritical else { return .default }
        return volume.map { .defaultCriticalSound(withAudioVolume: $0) } ?? .defaultCritical
    }

    init(_ system: UNNotificationSound) { self.init(name: "default", isCritical: system == .defaultCritical) }
}

/// A stage that changes the system's content object, for code of an existing extension.
///
/// Members that the change doesn't touch stay exactly as they were. A sound that it sets becomes the default sound, because
/// Apple's class doesn't expose the name; set a named sound with a `ContentStage`.
public struct SystemContentStage: ContentStage, UnsealedStage {
    /// Changes the content object in place; an error leaves the content as it was.
    public typealias Change = @Sendable (UNMutableNotificationContent) async throws -> Void

    /// The name in diagnostics.
    public let name: String
    /// How long the stage may take; nil for the rest of the session's time.
    public let timeLimit: Duration?
    private let change: Change

    /// Creates a stage.
    public init(name: String = "SystemContentStage", timeLimit: Duration? = nil, _ change: @escaping Change) {
        self.name = name
        self.timeLimit = timeLimit
        self.change = change
    }

    /// Runs the change on the system's object for the content.
    public func process(_ content: NotificationContent, of push: OpenedPush) async throws -> NotificationContent {
        try await process(unsealed: content)
    }

    /// Runs the change on the system's object for content that wasn't sealed.
    public func process(unsealed content: NotificationContent) async throws -> NotificationContent {
        let changed = content.systemContent
        try await change(changed)
        return content.changed(to: changed)
    }
}

extension NotificationContent {
    fileprivate func changed(to system: UNNotificationContent) -> NotificationContent {
        let old = systemContent
        let new = NotificationContent(system)
        var content = self
        if system.title != old.title { content.title = new.title }
        if system.subtitle != old.subtitle { content.subtitle = new.subtitle }
        if system.body != old.body { content.body = new.body }
        if system.badge != old.badge { content.badge = new.badge }
        if system.sound != old.sound { content.sound = new.sound }
        if system.categoryIdentifier != old.categoryIdentifier { content.category = new.category }
        if system.threadIdentifier != old.threadIdentifier { content.threadID = new.threadID }
        if system.interruptionLevel != old.interruptionLevel { content.interruptionLevel = new.interruptionLevel }
        if system.relevanceScore != old.relevanceScore { content.relevanceScore = new.relevanceScore }
        if system.targetContentIdentifier != old.targetContentIdentifier {
            content.targetContentID = new.targetContentID
        }
        if system.filterCriteria != old.filterCriteria { content.filterCriteria = new.filterCriteria }
        if new.attachments != NotificationContent(old).attachments { content.attachments = new.attachments }
        if new.userInfo != UserInfoJSON.json(old.userInfo) { content.userInfo = new.userInfo }
        return content
    }
}
#endif
