public import Foundation
public import UserNotifications

// The part of Apple's documented API that PushCryptAppleUI uses, with its documented availability, for systems without the
// framework. No product depends on it.

@available(iOS 10, macOS 11, visionOS 1, *)
@available(tvOS, unavailable)
@available(watchOS, unavailable)
public enum UNNotificationContentExtensionResponseOption: UInt, Sendable {
    case doNotDismiss, dismiss, dismissAndForwardAction
}

/// Apple's second method is optional, and only the first one is documented to be on the main actor.
@available(iOS 10, macOS 11, visionOS 1, *)
@available(tvOS, unavailable)
@available(watchOS, unavailable)
public protocol UNNotificationContentExtension: NSObjectProtocol {
    @MainActor func didReceive(_ notification: UNNotification)
    func didReceive(
        _ response: UNNotificationResponse,
        completionHandler completion: @escaping @Sendable (UNNotificationContentExtensionResponseOption) -> Void)
}

@available(iOS 12, macOS 11, visionOS 1, *)
@available(tvOS, unavailable)
@available(watchOS, unavailable)
extension NSExtensionContext {
    public var notificationActions: [UNNotificationAction] {
        get { stubObject as? [UNNotificationAction] ?? [] }
        set { stubObject = newValue }
    }
}
