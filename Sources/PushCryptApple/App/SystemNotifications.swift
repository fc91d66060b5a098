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

extension SharedStore {
    /// Removes the notifications from the system's notification centre whose messages have expired or were retracted; see
    /// `sweep(_:at:)`.
    ///
    /// - Throws: `StoreError`.
    public func sweep(at time: UnixTime = .now) throws { try sweep(SystemNotifications(.current()), at: time) }
}

extension KeptNotifications {
    /// Opens the placeholders of the app's notification centre.
    public init(_ configuration: ExtensionConfiguration, in center: UNUserNotificationCenter) {
        self.init(configuration, in: SystemNotifications(center))
        userInfo = { UserInfoJSON.json($0.finalForm().system.userInfo) }
    }
}
#endif
