#if canImport(UserNotifications) && !os(tvOS)
import Foundation
public import PushCryptExtension
public import UserNotifications

extension NotificationContent {
    /// The same as the system's content object.
    ///
    /// It is a new one, not a copy of what arrived: whatever the payload outside said, and whatever later systems add to
    /// their class, is not in it. The summary's members are left out: the system has ignored them since iOS 15. A loc-key is
    /// resolved by the system when it shows the notification. An attachment that the system refuses is left out.
    public var systemContent: UNMutableNotificationContent {
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
        system.attachments = attachments.compactMap { try? $0.systemAttachment }
        return system
    }

    /// What can be read from the system's content object. Of a sound only whether there is one and whether it is a default
    /// one: Apple's class doesn't tell its name. Of the attachments those whose types are in its documentation.
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
    fileprivate init(systemText: String) {
        self.init(literal: systemText.isEmpty ? nil : systemText)
    }

    fileprivate var systemText: String {
        guard let locKey, !locKey.isEmpty else { return literal ?? "" }
        return NSString.localizedUserNotificationString(forKey: locKey, arguments: locArguments)
    }
}

extension UNNotificationInterruptionLevel {
    /// - Parameter payloadName: `interruption-level` of a payload.
    fileprivate init?(payloadName: String?) {
        switch payloadName {
        case "passive": self = .passive
        case "active": self = .active
        case "time-sensitive": self = .timeSensitive
        case "critical": self = .critical
        default: return nil
        }
    }

    /// nil for `active`, which is what a payload without a level means, and for levels of later systems.
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
    /// The system reads the type from the hint: a file's name says nothing of its content.
    ///
    /// - Throws: what the system says of a file that it can't show.
    var systemAttachment: UNNotificationAttachment {
        get throws {
            try UNNotificationAttachment(
                identifier: identifier, url: URL(fileURLWithPath: path),
                options: [UNNotificationAttachmentOptionsTypeHintKey: type.uniformTypeIdentifier])
        }
    }

    /// nil for a type that isn't in the documentation's table.
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

    init(_ system: UNNotificationSound) {
        self.init(name: "default", isCritical: system == .defaultCritical)
    }
}
#endif
