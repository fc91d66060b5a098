public import Foundation

@available(iOS 10, macOS 10.14, watchOS 3, visionOS 1, *)
@available(tvOS, unavailable)
open class UNNotification: NSObject {
    public let request: UNNotificationRequest
    public let date: Date

    /// Apple's class has no initializer for apps.
    public init(stubRequest: UNNotificationRequest, date: Date = Date(timeIntervalSince1970: 0)) {
        request = stubRequest
        self.date = date
    }
}

// swift-format-ignore: AlwaysUseLowerCamelCase
@available(iOS 10, macOS 10.14, watchOS 3, visionOS 1, *)
@available(tvOS, unavailable)
public let UNNotificationDefaultActionIdentifier = "com.apple.UNNotificationDefaultActionIdentifier"
// swift-format-ignore: AlwaysUseLowerCamelCase
@available(iOS 10, macOS 10.14, watchOS 3, visionOS 1, *)
@available(tvOS, unavailable)
public let UNNotificationDismissActionIdentifier = "com.apple.UNNotificationDismissActionIdentifier"

@available(iOS 10, macOS 10.14, watchOS 3, visionOS 1, *)
@available(tvOS, unavailable)
open class UNNotificationResponse: NSObject {
    public let notification: UNNotification
    public let actionIdentifier: String

    /// Apple's class has no initializer for apps.
    public init(stubNotification: UNNotification, actionIdentifier: String) {
        notification = stubNotification
        self.actionIdentifier = actionIdentifier
    }
}

@available(iOS 10, macOS 10.14, watchOS 3, visionOS 1, *)
@available(tvOS, unavailable)
open class UNTextInputNotificationResponse: UNNotificationResponse {
    public let userText: String

    /// Apple's class has no initializer for apps.
    public init(stubNotification: UNNotification, actionIdentifier: String, userText: String) {
        self.userText = userText
        super.init(stubNotification: stubNotification, actionIdentifier: actionIdentifier)
    }
}

@available(iOS 10, macOS 10.14, watchOS 3, tvOS 10, visionOS 1, *)
public struct UNNotificationPresentationOptions: OptionSet, Sendable {
    public let rawValue: UInt

    public init(rawValue: UInt) { self.rawValue = rawValue }

    public static let badge = Self(rawValue: 1 << 0)
    public static let sound = Self(rawValue: 1 << 1)
    @available(iOS 14, macOS 11, watchOS 7, tvOS 14, visionOS 1, *)
    public static let list = Self(rawValue: 1 << 3)
    @available(iOS 14, macOS 11, watchOS 7, tvOS 14, visionOS 1, *)
    public static let banner = Self(rawValue: 1 << 4)
}

// On tvOS Apple's classes have members for badges only.

/// Apple's methods are optional.
@available(iOS 10, macOS 10.14, watchOS 3, visionOS 1, *)
@available(tvOS, unavailable)
public protocol UNUserNotificationCenterDelegate: NSObjectProtocol {
    func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
        withCompletionHandler completionHandler: @escaping (UNNotificationPresentationOptions) -> Void)
    func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
        withCompletionHandler completionHandler: @escaping () -> Void)
    @available(iOS 12, macOS 10.14, visionOS 1, *)
    @available(watchOS, unavailable)
    func userNotificationCenter(_ center: UNUserNotificationCenter, openSettingsFor notification: UNNotification?)
}

@available(iOS 10, macOS 10.14, watchOS 3, visionOS 1, *)
@available(tvOS, unavailable)
open class UNUserNotificationCenter: NSObject {
    /// The notifications on the screen. Tests set it.
    public final var stubDelivered: [UNNotificationRequest] {
        get { lock.withLock { delivered } }
        set { lock.withLock { delivered = newValue } }
    }
    private var delivered: [UNNotificationRequest] = []
    /// The identifiers that were removed.
    public final var stubRemovedIdentifiers: [String] { lock.withLock { removed } }
    private let lock = NSLock()
    private var removed: [String] = []
    /// What `add` fails with.
    public final var stubError: (any Error)?

    /// An app uses `current()`.
    @available(*, unavailable)
    public override init() { super.init() }

    /// A centre that only one test uses.
    public init(stub: Void) { super.init() }

    open weak var delegate: (any UNUserNotificationCenterDelegate)?

    // It is never changed, except by the tests.
    private nonisolated(unsafe) static let only = UNUserNotificationCenter(stub: ())

    /// Like Apple's, it ends a process without an app bundle.
    open class func current() -> UNUserNotificationCenter {
        precondition(StubProcess.current.hasAppBundle, "the process has no app bundle")
        return unsafe only
    }

    open func getDeliveredNotifications(completionHandler: @escaping @Sendable ([UNNotification]) -> Void) {
        completionHandler(stubDelivered.map { UNNotification(stubRequest: $0) })
    }

    open func add(
        _ request: UNNotificationRequest, withCompletionHandler completionHandler: (@Sendable ((any Error)?) -> Void)?
    ) {
        if stubError == nil {
            lock.withLock {
                delivered.removeAll { $0.identifier == request.identifier }
                pending.removeAll { $0.identifier == request.identifier }
                if request.trigger == nil { delivered.append(request) } else { pending.append(request) }
            }
        }
        completionHandler?(stubError)
    }

    /// What the user answers and allows.
    public final var stubSettings: UNNotificationSettings.Stub {
        get { lock.withLock { allowed } }
        set { lock.withLock { allowed = newValue } }
    }
    private var allowed = UNNotificationSettings.Stub()
    /// The scheduled notifications.
    public final var stubPending: [UNNotificationRequest] { lock.withLock { pending } }
    private var pending: [UNNotificationRequest] = []
    private var categories: Set<UNNotificationCategory> = []

    open func requestAuthorization(options: UNAuthorizationOptions) async throws -> Bool {
        stubSettings.status == .authorized
    }

    open func getNotificationSettings(completionHandler: @escaping @Sendable (UNNotificationSettings) -> Void) {
        completionHandler(UNNotificationSettings(stub: stubSettings))
    }

    open func setNotificationCategories(_ categories: Set<UNNotificationCategory>) {
        lock.withLock { self.categories = categories }
    }

    open func getNotificationCategories(completionHandler: @escaping @Sendable (Set<UNNotificationCategory>) -> Void) {
        completionHandler(lock.withLock { categories })
    }

    open func getPendingNotificationRequests(completionHandler: @escaping @Sendable ([UNNotificationRequest]) -> Void) {
        completionHandler(stubPending)
    }

    open func removePendingNotificationRequests(withIdentifiers identifiers: [String]) {
        lock.withLock { pending.removeAll { identifiers.contains($0.identifier) } }
    }

    open func removeAllPendingNotificationRequests() { lock.withLock { pending = [] } }

    open func removeAllDeliveredNotifications() { lock.withLock { delivered = [] } }

    /// The number on the app's icon.
    public final var stubBadge: Int? { lock.withLock { badge } }
    private var badge: Int?

    @available(iOS 16, macOS 13, tvOS 16, visionOS 1, *)
    @available(watchOS, unavailable)
    open func setBadgeCount(_ newBadgeCount: Int) async throws {
        if let stubError { throw stubError }
        lock.withLock { badge = newBadgeCount }
    }

    open func removeDeliveredNotifications(withIdentifiers identifiers: [String]) {
        lock.withLock {
            delivered.removeAll { identifiers.contains($0.identifier) }
            removed += identifiers
        }
    }
}
