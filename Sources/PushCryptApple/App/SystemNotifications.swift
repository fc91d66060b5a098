#if canImport(UserNotifications) && !os(tvOS)
import Foundation
public import PushCryptCore
public import PushCryptExtension
import PushCryptPrimitives
public import UserNotifications

/// The system's notification centre for the app, also in its extension.
public struct SystemNotifications: ReplaceableNotifications {
    // Unchecked: Apple's object may be used on any thread, but its type isn't Sendable on all systems.
    private struct Center: @unchecked Sendable {
        let center: UNUserNotificationCenter
    }

    private let center: Center

    /// Uses a notification centre, usually `.current()`.
    public init(_ center: UNUserNotificationCenter) { self.center = Center(center: center) }

    /// The notifications that are on the screen or in the list.
    public func delivered() async -> [DeliveredNotification] {
        await withCheckedContinuation { continuation in
            center.center.getDeliveredNotifications { notifications in
                continuation.resume(
                    returning: notifications.map { notification in
                        DeliveredNotification(
                            requestID: notification.request.identifier,
                            userInfo: UserInfoJSON.json(notification.request.content.userInfo))
                    })
            }
        }
    }

    /// Shows content at once, as a local notification. Throws the system's error.
    public func show(_ content: NotificationContent, requestID: String) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            let request = UNNotificationRequest(
                identifier: requestID, content: content.finalForm().system, trigger: nil)
            center.center.add(request) { error in
                continuation.resume(with: error.map { .failure($0) } ?? .success(()))
            }
        }
    }

    /// Removes notifications.
    public func remove(_ requestIDs: [String]) {
        center.center.removeDeliveredNotifications(withIdentifiers: requestIDs)
    }
}

extension KeptNotifications {
    /// Opens the placeholders of the app's notification centre.
    public init(_ configuration: ExtensionConfiguration, in center: UNUserNotificationCenter = .current()) {
        self.init(configuration, in: SystemNotifications(center))
        userInfo = { UserInfoJSON.json($0.finalForm().system.userInfo) }
    }
}

extension AppGroup {
    /// Removes the notifications from the screen whose messages have expired or were retracted. Call it when the app starts or
    /// becomes active; the extension does the same with each push.
    ///
    /// - Throws: `StoreError`.
    public func removeDueNotifications(at time: UnixTime = .now, in center: UNUserNotificationCenter = .current())
        async throws
    {
        let (store, notifications) = (store(.app), SystemNotifications(center))
        try await DedicatedThread.value { try store.sweep(notifications, at: time) }
    }

    #if !os(watchOS)
    /// Sets the number on the app's icon, and the number that the extension counts on from. Pass 0 when everything was read.
    ///
    /// - Parameter number: a number outside 0 to 9,999 becomes the nearest one inside.
    /// - Throws: `StoreError`, and the system's error, usually because the user doesn't allow badges.
    public func setBadge(_ number: Int, in center: UNUserNotificationCenter = .current()) async throws {
        let store = store(.app)
        let badge = try await DedicatedThread.value {
            try store.setBadge(number)
            return try store.badge()
        }
        try await center.setBadgeCount(badge)
    }
    #endif
}
#endif
