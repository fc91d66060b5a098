public import Foundation

@available(iOS 10, macOS 10.14, watchOS 3, tvOS 10, visionOS 1, *)
public struct UNAuthorizationOptions: OptionSet, Sendable {
    public let rawValue: UInt

    public init(rawValue: UInt) { self.rawValue = rawValue }
}

@available(iOS 10, macOS 10.14, watchOS 3, tvOS 10, visionOS 1, *)
public enum UNAuthorizationStatus: Int, Sendable {
    case notDetermined, denied, authorized
    @available(iOS 12, macOS 10.14, watchOS 5, tvOS 12, visionOS 1, *)
    case provisional
    @available(iOS 14, visionOS 1, *)
    @available(macOS, unavailable)
    @available(watchOS, unavailable)
    @available(tvOS, unavailable)
    case ephemeral
}

@available(iOS 11, macOS 10.14, visionOS 1, *)
@available(watchOS, unavailable)
@available(tvOS, unavailable)
public enum UNShowPreviewsSetting: Int, Sendable {
    case always, whenAuthenticated, never
}

@available(iOS 10, macOS 10.14, watchOS 3, tvOS 10, visionOS 1, *)
public enum UNNotificationSetting: Int, Sendable {
    case notSupported, disabled, enabled
}

@available(iOS 10, macOS 10.14, visionOS 1, *)
@available(watchOS, unavailable)
@available(tvOS, unavailable)
public enum UNAlertStyle: Int, Sendable {
    case none, banner, alert
}

@available(iOS 10, macOS 10.14, watchOS 3, tvOS 10, visionOS 1, *)
open class UNNotificationSettings: NSObject {
    /// What a test sets.
    public struct Stub: Sendable {
        public var status = UNAuthorizationStatus.authorized
        public var sound = UNNotificationSetting.enabled
        public var badge = UNNotificationSetting.enabled
        public var alert = UNNotificationSetting.enabled
        public var list = UNNotificationSetting.enabled
        public var lockScreen = UNNotificationSetting.enabled
        public var critical = UNNotificationSetting.notSupported
        public var carPlay = UNNotificationSetting.notSupported
        public var providesAppSettings = false
        public var timeSensitive = UNNotificationSetting.enabled
        public var scheduledDelivery = UNNotificationSetting.disabled
        public var directMessages = UNNotificationSetting.notSupported
        public var announcement = UNNotificationSetting.notSupported
        public var alertStyle = UNAlertStyle.banner
        /// The raw value of `UNShowPreviewsSetting`.
        public var previews = 0

        public init() {}
    }

    private let stub: Stub

    /// Apple's class has no initializer for apps.
    public init(stub: Stub) { self.stub = stub }

    open var authorizationStatus: UNAuthorizationStatus { stub.status }
    @available(tvOS, unavailable)
    open var soundSetting: UNNotificationSetting { stub.sound }
    @available(watchOS, unavailable)
    open var badgeSetting: UNNotificationSetting { stub.badge }
    @available(tvOS, unavailable)
    open var alertSetting: UNNotificationSetting { stub.alert }
    @available(tvOS, unavailable)
    open var notificationCenterSetting: UNNotificationSetting { stub.list }
    @available(watchOS, unavailable)
    @available(tvOS, unavailable)
    open var lockScreenSetting: UNNotificationSetting { stub.lockScreen }
    @available(iOS 10, *)
    @available(macOS, unavailable)
    @available(watchOS, unavailable)
    @available(tvOS, unavailable)
    @available(visionOS, unavailable)
    open var carPlaySetting: UNNotificationSetting { stub.carPlay }
    @available(iOS 12, macOS 10.14, watchOS 5, visionOS 1, *)
    @available(tvOS, unavailable)
    open var providesAppNotificationSettings: Bool { stub.providesAppSettings }
    @available(iOS 12, macOS 10.14, watchOS 5, visionOS 1, *)
    @available(tvOS, unavailable)
    open var criticalAlertSetting: UNNotificationSetting { stub.critical }
    @available(iOS 15, macOS 12, watchOS 8, visionOS 1, *)
    @available(tvOS, unavailable)
    open var timeSensitiveSetting: UNNotificationSetting { stub.timeSensitive }
    @available(iOS 15, macOS 12, watchOS 8, visionOS 1, *)
    @available(tvOS, unavailable)
    open var scheduledDeliverySetting: UNNotificationSetting { stub.scheduledDelivery }
    @available(iOS 15, macOS 12, watchOS 8, visionOS 1, *)
    @available(tvOS, unavailable)
    open var directMessagesSetting: UNNotificationSetting { stub.directMessages }
    @available(iOS 13, watchOS 6, visionOS 1, *)
    @available(macOS, unavailable)
    @available(tvOS, unavailable)
    open var announcementSetting: UNNotificationSetting { stub.announcement }
    @available(iOS 10, macOS 10.14, visionOS 1, *)
    @available(watchOS, unavailable)
    @available(tvOS, unavailable)
    open var alertStyle: UNAlertStyle { stub.alertStyle }
    @available(iOS 11, macOS 10.14, visionOS 1, *)
    @available(watchOS, unavailable)
    @available(tvOS, unavailable)
    open var showPreviewsSetting: UNShowPreviewsSetting { UNShowPreviewsSetting(rawValue: stub.previews) ?? .never }
}
