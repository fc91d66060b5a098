public import Foundation

@available(iOS 10, macOS 10.14, watchOS 3, tvOS 10, visionOS 1, *)
open class UNUserNotificationCenter: NSObject, @unchecked Sendable {
    // Unchecked because of the identifiers, which are used under the lock only.
    private static let only = UNUserNotificationCenter()
    private let lock = NSLock()
    private var removed: [String] = []

    open class func current() -> UNUserNotificationCenter { only }

    @available(tvOS, unavailable)
    open func removeDeliveredNotifications(withIdentifiers identifiers: [String]) {
        lock.withLock { removed += identifiers }
    }

    /// The identifiers that were removed, for tests. Apple's class doesn't have it.
    public var stubRemovedIdentifiers: [String] { lock.withLock { removed } }
}
