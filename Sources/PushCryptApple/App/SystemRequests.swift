#if canImport(UserNotifications) && !os(tvOS)
import Foundation
package import PushCryptExtension
package import UserNotifications

// Between the system's objects and the values of PushCryptExtension.

extension DeliveredNotification {
    package init(_ system: UNNotification, _ regions: RegionTriggers?) {
        self.init(
            NotificationRequest(system.request, regions), userInfo: UserInfoJSON.json(system.request.content.userInfo),
            at: UnixTime(Int64(system.date.timeIntervalSince1970)))
    }
}

extension NotificationRequest {
    init(_ system: UNNotificationRequest, _ regions: RegionTriggers?) {
        self.init(
            id: system.identifier, content: NotificationContent(system.content),
            trigger: system.trigger.map { NotificationTrigger($0, regions) })
    }
}

extension NotificationTrigger {
    init(_ system: UNNotificationTrigger, _ regions: RegionTriggers?) {
        switch system {
        case is UNPushNotificationTrigger: self = .push
        case let system as UNTimeIntervalNotificationTrigger:
            self = .timeInterval(seconds: system.timeInterval, repeats: system.repeats)
        case let system as UNCalendarNotificationTrigger:
            self = .calendar(CalendarMatch(system.dateComponents), repeats: system.repeats)
        default: self = regions?.region(system).map { .location($0, repeats: system.repeats) } ?? .unknown
        }
    }
}

extension NotificationError {
    /// The error of the protocol for Apple's: code that handles the errors of `SimulatedNotificationCenter` handles these.
    static func replacing(_ error: any Error) -> any Error {
        guard let system = error as? UNError else { return error }
        return switch system.code {
        case .notificationsNotAllowed:
            NotificationError(.notAllowed, "the user doesn't allow notifications, or wasn't asked")
        case .notificationInvalidNoDate: NotificationError(.invalidTrigger, "the system finds no date for the trigger")
        case .notificationInvalidNoContent:
            NotificationError(.invalidContent, "the content has neither text nor badge nor sound")
        case .badgeInputInvalid: NotificationError(.invalidContent, "the system refuses this number for the badge")
        case .attachmentInvalidURL, .attachmentUnrecognizedType, .attachmentInvalidFileSize, .attachmentNotInDataStore,
            .attachmentMoveIntoDataStoreFailed, .attachmentCorrupt:
            NotificationError(.invalidAttachment, "the system refuses an attachment")
        default: error
        }
    }
}

extension CalendarMatch {
    init(_ components: DateComponents) {
        self.init(
            year: components.year, month: components.month, day: components.day, weekday: components.weekday,
            hour: components.hour, minute: components.minute, second: components.second,
            timeZone: components.timeZone?.identifier)
    }

    /// Throws `NotificationError` for an unknown time zone.
    var components: DateComponents {
        get throws {
            var components = DateComponents()
            (components.year, components.month, components.day) = (year, month, day)
            (components.weekday, components.hour) = (weekday, hour)
            (components.minute, components.second) = (minute, second)
            if let timeZone {
                guard let zone = TimeZone(identifier: timeZone) else {
                    throw NotificationError(.invalidTrigger, "the system doesn't know the time zone")
                }
                components.timeZone = zone
            }
            return components
        }
    }
}

extension NotificationCategory {
    init(_ system: UNNotificationCategory) {
        self.init(
            id: system.identifier, actions: system.actions.map(NotificationAction.init(_:)),
            options: Options(rawValue: system.options.rawValue))
        #if !os(watchOS)
        let text = system.hiddenPreviewsBodyPlaceholder
        hiddenPreviewsBodyPlaceholder = text.isEmpty ? nil : text
        #endif
    }

    var system: UNNotificationCategory {
        let options = UNNotificationCategoryOptions(rawValue: options.rawValue)
        let actions = actions.map(\.system)
        #if !os(watchOS)
        if let hiddenPreviewsBodyPlaceholder {
            return UNNotificationCategory(
                identifier: id, actions: actions, intentIdentifiers: [],
                hiddenPreviewsBodyPlaceholder: hiddenPreviewsBodyPlaceholder, options: options)
        }
        #endif
        return UNNotificationCategory(identifier: id, actions: actions, intentIdentifiers: [], options: options)
    }
}

extension NotificationAction {
    package init(_ system: UNNotificationAction) {
        let input = (system as? UNTextInputNotificationAction).map {
            TextInput(buttonTitle: $0.textInputButtonTitle, placeholder: $0.textInputPlaceholder)
        }
        self.init(
            id: system.identifier, title: system.title, options: Options(rawValue: system.options.rawValue),
            textInput: input)
    }

    package var system: UNNotificationAction {
        let options = UNNotificationActionOptions(rawValue: options.rawValue)
        let icon = icon?.system
        guard let textInput else {
            return UNNotificationAction(identifier: id, title: title, options: options, icon: icon)
        }
        return UNTextInputNotificationAction(
            identifier: id, title: title, options: options, icon: icon, textInputButtonTitle: textInput.buttonTitle,
            textInputPlaceholder: textInput.placeholder)
    }
}

extension NotificationAction.Icon {
    fileprivate var system: UNNotificationActionIcon {
        switch self {
        case .system(let name): UNNotificationActionIcon(systemImageName: name)
        case .template(let name): UNNotificationActionIcon(templateImageName: name)
        }
    }
}

extension NotificationSettings {
    init(_ system: UNNotificationSettings) {
        self.init()
        authorization =
            switch system.authorizationStatus {
            case .notDetermined: .notDetermined
            case .denied: .denied
            case .provisional: .provisional
            // Also temporarily, for an app clip.
            default: .authorized
            }
        if system.alertSetting == .enabled { allowed.insert(.alert) }
        if system.soundSetting == .enabled { allowed.insert(.sound) }
        if system.criticalAlertSetting == .enabled { allowed.insert(.criticalAlert) }
        if system.providesAppNotificationSettings { allowed.insert(.providesAppSettings) }
        #if !os(macOS) && !os(watchOS) && !os(visionOS)
        if system.carPlaySetting == .enabled { allowed.insert(.carPlay) }
        #endif
        showsBanners = system.alertSetting == .enabled
        showsInList = system.notificationCenterSetting == .enabled
        allowsTimeSensitive = system.timeSensitiveSetting == .enabled
        isInSummary = system.scheduledDeliverySetting == .enabled
        allowsDirectMessages = system.directMessagesSetting == .enabled
        #if os(iOS) || os(watchOS) || os(Linux)
        isAnnounced = system.announcementSetting == .enabled
        #endif
        #if !os(watchOS)
        alertStyle =
            switch system.alertStyle {
            case .banner: .banner
            case .alert: .alert
            default: .none
            }
        if system.badgeSetting == .enabled { allowed.insert(.badge) }
        showsOnLockScreen = system.lockScreenSetting == .enabled
        previews =
            switch system.showPreviewsSetting {
            case .always: .always
            case .whenAuthenticated: .whenUnlocked
            default: .never
            }
        #endif
    }
}
#endif
