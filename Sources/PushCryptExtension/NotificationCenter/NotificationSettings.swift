/// What an app asks the user to allow: `UNAuthorizationOptions`.
public struct NotificationOptions: OptionSet, Hashable, Sendable {
    /// The bits.
    public let rawValue: UInt

    /// Creates options from bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// A number on the app's icon.
    public static let badge = NotificationOptions(rawValue: 1 << 0)
    /// Sounds.
    public static let sound = NotificationOptions(rawValue: 1 << 1)
    /// Alerts: banners, the list and the lock screen.
    public static let alert = NotificationOptions(rawValue: 1 << 2)
    /// Notifications in cars.
    public static let carPlay = NotificationOptions(rawValue: 1 << 3)
    /// Critical alerts, which need an entitlement of Apple.
    public static let criticalAlert = NotificationOptions(rawValue: 1 << 4)
    /// The app shows a button for its own settings.
    public static let providesAppSettings = NotificationOptions(rawValue: 1 << 5)
    /// Quiet notifications without a question to the user.
    public static let provisional = NotificationOptions(rawValue: 1 << 6)
}

/// What the user allows: `UNNotificationSettings`.
public struct NotificationSettings: Hashable, Sendable {
    /// Whether the app may show notifications: `UNAuthorizationStatus`.
    public enum Authorization: Hashable, Sendable {
        /// The user wasn't asked yet.
        case notDetermined
        /// The user refused.
        case denied
        /// The user agreed.
        case authorized
        /// The app may show quiet notifications in the list, and the user wasn't asked.
        case provisional
    }

    /// When the content of notifications is shown on the lock screen: `UNShowPreviewsSetting`.
    public enum Previews: Hashable, Sendable {
        /// Always.
        case always
        /// Only when the device is unlocked.
        case whenUnlocked
        /// Never.
        case never
    }

    /// How alerts are shown while the device is unlocked: `UNAlertStyle`.
    public enum AlertStyle: Hashable, Sendable {
        /// Not at all.
        case none
        /// For some seconds.
        case banner
        /// Until the user has acted.
        case alert
    }

    /// Whether the app may show notifications.
    public var authorization: Authorization
    /// What is allowed. Empty unless the app is authorized, also provisionally.
    public var allowed: NotificationOptions
    /// Whether notifications appear on the lock screen.
    public var showsOnLockScreen: Bool
    /// Whether notifications appear in the list.
    public var showsInList: Bool
    /// Whether notifications appear as banners.
    public var showsBanners: Bool
    /// Whether the app may interrupt with time-sensitive notifications.
    public var allowsTimeSensitive: Bool
    /// When their content is shown.
    public var previews: Previews
    /// How alerts are shown. watchOS has no such choice.
    public var alertStyle = AlertStyle.none
    /// Whether Siri reads notifications aloud: `announcementSetting`.
    public var isAnnounced = false
    /// Whether the user reads notifications in a summary at times of their own: `scheduledDeliverySetting`. Time-sensitive ones come
    /// at once.
    public var isInSummary = false
    /// `directMessagesSetting`, which Apple's pages don't explain.
    public var allowsDirectMessages = false

    /// Creates settings; without arguments those before the user was asked.
    public init(
        authorization: Authorization = .notDetermined, allowed: NotificationOptions = [],
        showsOnLockScreen: Bool = false, showsInList: Bool = false, showsBanners: Bool = false,
        allowsTimeSensitive: Bool = false, previews: Previews = .always
    ) {
        self.authorization = authorization
        self.allowed = allowed
        self.showsOnLockScreen = showsOnLockScreen
        self.showsInList = showsInList
        self.showsBanners = showsBanners
        self.allowsTimeSensitive = allowsTimeSensitive
        self.previews = previews
    }

    /// Whether the app may show notifications at all.
    package var isAuthorized: Bool { authorization == .authorized || authorization == .provisional }

    /// Whether the system shows the app's alerts anywhere. If it doesn't, it runs no extension: "Modifying content in newly
    /// delivered notifications". The page doesn't say whether alerts that are allowed and shown nowhere are disabled; the strictest
    /// reading is that they are.
    public var showsAlerts: Bool {
        isAuthorized && allowed.contains(.alert) && (showsOnLockScreen || showsInList || showsBanners)
    }
}

/// How a notification is presented while the app is in the foreground: `UNNotificationPresentationOptions`.
public struct PresentationOptions: OptionSet, Hashable, Sendable {
    /// The bits.
    public let rawValue: UInt

    /// Creates options from bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// Sets the number on the icon.
    public static let badge = PresentationOptions(rawValue: 1 << 0)
    /// Plays the sound.
    public static let sound = PresentationOptions(rawValue: 1 << 1)
    /// Adds it to the list.
    public static let list = PresentationOptions(rawValue: 1 << 3)
    /// Shows a banner.
    public static let banner = PresentationOptions(rawValue: 1 << 4)
}
