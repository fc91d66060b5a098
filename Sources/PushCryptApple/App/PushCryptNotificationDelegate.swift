#if canImport(UserNotifications) && !os(tvOS)
public import Foundation
public import PushCryptExtension
public import UserNotifications

/// The delegate of the app's notification centre. It verifies each notification and asks the app's responder. Set an object as
/// the centre's delegate before the app has finished launching, and keep it: the centre doesn't retain it.
///
/// The system runs the extension first, also for an app in the foreground.
@MainActor public final class PushCryptNotificationDelegate: NSObject, UNUserNotificationCenterDelegate {
    private let responder: ConnectedResponder
    private let regions: RegionTriggers?

    /// Creates the delegate of an app with this group.
    ///
    /// - Parameters:
    ///   - kept: opens a placeholder that the user taps, because the system removes it from the list. Without it, such a tap is an
    ///     unverified one, and the message is lost.
    ///   - regions: converts the triggers of regions; without it the responder sees `unknown` for them.
    public convenience init(
        _ group: AppGroup, _ responder: any NotificationResponder, kept: KeptNotifications?,
        regions: RegionTriggers? = nil
    ) {
        self.init(NotificationVerifier(store: group.store(.app)), responder, kept: kept, regions: regions)
    }

    /// Creates a delegate.
    public init(
        _ verifier: NotificationVerifier, _ responder: any NotificationResponder, kept: KeptNotifications?,
        regions: RegionTriggers? = nil
    ) {
        self.responder = ConnectedResponder(responder, verifier: verifier, kept: kept)
        self.regions = regions
        super.init()
    }

    // The forms with a completion handler: the system requires the call of the handler on the main thread, which the
    // asynchronous forms don't guarantee.

    // Unchecked: Apple's handlers may be called on the main thread, but their types aren't Sendable.
    private struct Handler<Value>: @unchecked Sendable {
        let call: (Value) -> Void
    }

    /// Asks the responder.
    public nonisolated func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
        withCompletionHandler completionHandler: @escaping (UNNotificationPresentationOptions) -> Void
    ) {
        let (seen, handler) = (DeliveredNotification(notification, regions), Handler(call: completionHandler))
        Task { @MainActor in
            let options = await responder.presentation(of: seen)
            handler.call(UNNotificationPresentationOptions(rawValue: options.rawValue))
        }
    }

    /// Tells the responder.
    public nonisolated func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
        withCompletionHandler completionHandler: @escaping () -> Void
    ) {
        let (seen, handler) = (
            DeliveredNotification(response.notification, regions), Handler<Void>(call: { completionHandler() })
        )
        let (action, text) = (ReceivedResponse.Action(response), response.text)
        Task { @MainActor in
            await responder.received(action, text: text, to: seen)
            handler.call(())
        }
    }

    #if !os(watchOS)
    /// Asks the responder to show the app's settings.
    public nonisolated func userNotificationCenter(
        _ center: UNUserNotificationCenter, openSettingsFor notification: UNNotification?
    ) {
        let seen = notification.map { DeliveredNotification($0, regions) }
        Task { @MainActor in await responder.openSettings(from: seen) }
    }
    #endif
}

extension ReceivedResponse.Action {
    package init(_ response: UNNotificationResponse) {
        switch response.actionIdentifier {
        case UNNotificationDefaultActionIdentifier: self = .open
        case UNNotificationDismissActionIdentifier: self = .dismiss
        case let identifier: self = .custom(identifier)
        }
    }
}

extension UNNotificationResponse {
    package var text: String? { (self as? UNTextInputNotificationResponse)?.userText }
}
#endif
