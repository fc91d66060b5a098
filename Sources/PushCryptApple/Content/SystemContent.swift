#if canImport(UserNotifications) && !os(tvOS)
import Foundation
public import PushCryptExtension
public import UserNotifications

extension NotificationContent {
    /// The content as the system's content object.
    ///
    /// It is a new object, not a copy of the received one, so it has no members of the outer payload. The summary members
    /// are left out, because the system ignores them since iOS 15. A loc-key is left out, because the system would show the
    /// key itself if the app lacks it: a session resolves keys before its stages run, and `localized(by:)` does it for other
    /// content. An attachment that the system refuses is left out; a session reports it as `attachmentFailed`.
    public var systemContent: UNMutableNotificationContent { converted().system }

    /// The system's content object, and the attachments that the system refuses.
    func converted() -> (system: UNMutableNotificationContent, refused: [Attachment]) {
        let system = UNMutableNotificationContent()
        system.title = title.literal ?? ""
        system.subtitle = subtitle.literal ?? ""
        system.body = body.literal ?? ""
        #if !os(macOS)
        system.launchImageName = launchImage ?? ""
        #endif
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

    /// The object for the system's handler, and the attachments that the system refuses: empty content for a suppressed push,
    /// the object that the last stage made, which has none of these, or else the converted content.
    func finalForm() -> (system: UNNotificationContent, refused: [Attachment]) {
        if isSuppressed { return (UNNotificationContent(), []) }
        let finished = systemObject?.object as? FinishedContent
        if let system = try? finished?.object(withBadge: badge) { return (system, []) }
        let (system, refused) = converted()
        return (system, refused)
    }

    /// Reads the system's content object. It keeps the objects of sounds and attachments, whose classes don't expose all that
    /// they contain, for ``systemContent``.
    public init(_ system: UNNotificationContent) {
        self.init()
        title = Text(systemText: system.title)
        subtitle = Text(systemText: system.subtitle)
        body = Text(systemText: system.body)
        #if !os(macOS)
        launchImage = system.launchImageName.isEmpty ? nil : system.launchImageName
        #endif
        badge = system.badge?.intValue
        sound = system.sound.map(Sound.init(_:))
        category = system.categoryIdentifier.isEmpty ? nil : system.categoryIdentifier
        threadID = system.threadIdentifier.isEmpty ? nil : system.threadIdentifier
        interruptionLevel = system.interruptionLevel.payloadName
        relevanceScore = system.relevanceScore == 0 ? nil : system.relevanceScore
        targetContentID = system.targetContentIdentifier
        filterCriteria = system.filterCriteria
        userInfo = UserInfoJSON.json(system.userInfo)
        attachments = system.attachments.map { Attachment($0, path: $0.url.path) }
    }
}

extension NotificationContent.Text {
    fileprivate init(systemText: String) { self.init(literal: systemText.isEmpty ? nil : systemText) }
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
            if let system = systemObject?.object as? UNNotificationAttachment { return system }
            return try UNNotificationAttachment(
                identifier: identifier, url: URL(fileURLWithPath: path), options: systemOptions)
        }
    }

    private var systemOptions: [String: Any] {
        var options: [String: Any] = [:]
        options[UNNotificationAttachmentOptionsTypeHintKey] = type?.uniformTypeIdentifier
        if thumbnail.isHidden { options[UNNotificationAttachmentOptionsThumbnailHiddenKey] = true }
        options[UNNotificationAttachmentOptionsThumbnailTimeKey] = thumbnail.time
        // The members of Core Graphics' dictionary representation of a rectangle.
        options[UNNotificationAttachmentOptionsThumbnailClippingRectKey] = thumbnail.part.map {
            ["X": $0.x, "Y": $0.y, "Width": $0.width, "Height": $0.height]
        }
        return options
    }

    init(_ system: UNNotificationAttachment, path: String) {
        let type = AttachmentType.all.first { $0.uniformTypeIdentifier == system.type }
        self.init(identifier: system.identifier, path: path, type: type)
        systemObject = SystemObject(system)
    }
}

extension NotificationContent.Sound {
    var systemSound: UNNotificationSound {
        if let system = systemObject?.object as? UNNotificationSound { return system }
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

    init(_ system: UNNotificationSound) {
        self.init(name: "default", isCritical: system == .defaultCritical)
        if system != .default, system != .defaultCritical { systemObject = SystemObject(system) }
    }
}

#endif
