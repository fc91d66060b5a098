#if canImport(UserNotifications) && !os(tvOS)
public import PushCryptCore
public import PushCryptExtension
import UserNotifications

/// The system's notification centre.
public struct NotificationCentre: DeliveredNotifications {
    /// Creates a value without state.
    public init() {}

    /// Removes the notifications from the screen.
    public func remove(_ requestIDs: [String]) {
        UNUserNotificationCenter.current().removeDeliveredNotifications(withIdentifiers: requestIDs)
    }
}

extension SharedStore {
    /// Removes the notifications from the system's notification centre whose messages have expired or were retracted; see
    /// ``sweep(_:at:)``.
    ///
    /// - Throws: `StoreError`.
    public func sweep(at time: UnixTime = .now) throws { try sweep(NotificationCentre(), at: time) }
}
#endif
