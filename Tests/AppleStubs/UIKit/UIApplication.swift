@_exported public import Foundation

@available(iOS 2, visionOS 1, *)
@available(macOS, unavailable)
@available(watchOS, unavailable)
@MainActor open class UIApplication: NSObject {
    public struct LaunchOptionsKey: Hashable, RawRepresentable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    @available(iOS 4, visionOS 1, *)
    public nonisolated static let didBecomeActiveNotification = NSNotification.Name(
        "UIApplicationDidBecomeActiveNotification")

    private let stubbedDelegate: any UIApplicationDelegate
    private let hasScenes: Bool

    /// The process has no application.
    open class var shared: UIApplication { fatalError("there is no application") }
    open var delegate: (any UIApplicationDelegate)? { stubbedDelegate }

    /// An app whose life cycle a test runs.
    public init(stubDelegate: any UIApplicationDelegate, hasScenes: Bool) {
        (stubbedDelegate, self.hasScenes) = (stubDelegate, hasScenes)
        super.init()
    }

    public final func stubLaunch() {
        _ = stubbedDelegate.application(self, didFinishLaunchingWithOptions: nil)
    }

    /// As documented: the notification is posted in every app, and the delegate is called only in an app without scenes.
    public final func stubBecomeActive() {
        if !hasScenes { stubbedDelegate.applicationDidBecomeActive(self) }
        NotificationCenter.default.post(name: Self.didBecomeActiveNotification, object: self)
    }

    open func registerForRemoteNotifications() {}
}

@available(iOS 7, visionOS 1, *)
@available(macOS, unavailable)
@available(watchOS, unavailable)
public enum UIBackgroundFetchResult: UInt, Sendable {
    case newData, noData, failed
}

/// Apple's protocol has optional members. Those that the example has are required, so that a misspelt one is an error.
@available(iOS 2, visionOS 1, *)
@available(macOS, unavailable)
@available(watchOS, unavailable)
@MainActor public protocol UIApplicationDelegate: NSObjectProtocol {
    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool
    func application(
        _ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data)
    func application(
        _ application: UIApplication, didFailToRegisterForRemoteNotificationsWithError error: any Error)
    @available(iOS 7, visionOS 1, *)
    func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any],
        fetchCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void)
    @available(iOS 7, visionOS 1, *)
    func application(
        _ application: UIApplication, handleEventsForBackgroundURLSession identifier: String,
        completionHandler: @escaping () -> Void)
    func applicationDidBecomeActive(_ application: UIApplication)
}

@available(macOS, unavailable)
@available(watchOS, unavailable)
extension UIApplicationDelegate {
    public func applicationDidBecomeActive(_ application: UIApplication) {}
}
