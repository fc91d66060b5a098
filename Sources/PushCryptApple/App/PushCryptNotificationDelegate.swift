#if canImport(UserNotifications) && !os(tvOS)
import Dispatch
public import Foundation
import PushCryptExtension
import PushCryptPrimitives
public import UserNotifications

/// The delegate of the app's notification centre. It hands the app verified payloads only. Subclass it, override
/// ``presentation(of:)`` and ``received(_:)``, and set an object as the centre's delegate before the app has finished
/// launching. The centre doesn't retain it.
///
/// The system runs the extension first, also for an app in the foreground.
@MainActor open class PushCryptNotificationDelegate: NSObject, UNUserNotificationCenterDelegate {
    private let verifier: NotificationVerifier

    /// Creates the delegate of an app with this group.
    public init(_ group: AppGroup) {
        verifier = NotificationVerifier(store: group.store(.app))
        super.init()
    }

    /// Creates a delegate.
    public init(_ verifier: NotificationVerifier) {
        self.verifier = verifier
        super.init()
    }

    /// Returns how a notification is presented while the app is in the foreground; an empty set shows nothing. The default
    /// shows everything.
    open func presentation(of notification: ReceivedNotification) async -> UNNotificationPresentationOptions {
        [.banner, .list, .sound, .badge]
    }

    /// Receives what the user did with a notification. The default does nothing.
    open func received(_ response: ReceivedResponse) async {}

    // The forms with a completion handler: the system requires the call of the handler on the main thread, which the
    // asynchronous forms don't guarantee.

    // Unchecked: Apple's handlers may be called on the main thread, but their types aren't Sendable.
    private struct Handler<Value>: @unchecked Sendable {
        let call: (Value) -> Void
    }

    /// Calls ``presentation(of:)``.
    public nonisolated func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
        withCompletionHandler completionHandler: @escaping (UNNotificationPresentationOptions) -> Void
    ) {
        let (seen, handler) = (SeenNotification(notification), Handler(call: completionHandler))
        Task { @MainActor in
            let options = await presentation(of: seen.verified(by: verifier))
            handler.call(options)
        }
    }

    /// Calls ``received(_:)``.
    public nonisolated func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
        withCompletionHandler completionHandler: @escaping () -> Void
    ) {
        let (seen, handler) = (SeenNotification(response.notification), Handler<Void>(call: { completionHandler() }))
        let (action, text) = (ReceivedResponse.Action(response), response.text)
        Task { @MainActor in
            await received(ReceivedResponse(to: seen.verified(by: verifier), action: action, text: text))
            handler.call(())
        }
    }
}

/// The members of the system's object that a verifier needs.
private struct SeenNotification: Sendable {
    let requestID: String
    let userInfo: [UInt8]
    let isPush: Bool

    init(_ notification: UNNotification) {
        requestID = notification.request.identifier
        userInfo = UserInfoJSON.json(notification.request.content.userInfo)
        isPush = notification.request.trigger is UNPushNotificationTrigger
    }

    /// On a thread of its own, because it waits for the store.
    func verified(by verifier: NotificationVerifier) async -> ReceivedNotification {
        await DedicatedThread.value { verifier.received(requestID: requestID, userInfo: userInfo, isPush: isPush) }
    }
}

extension ReceivedResponse.Action {
    fileprivate init(_ response: UNNotificationResponse) {
        switch response.actionIdentifier {
        case UNNotificationDefaultActionIdentifier: self = .open
        case UNNotificationDismissActionIdentifier: self = .dismiss
        case let identifier: self = .custom(identifier)
        }
    }
}

extension UNNotificationResponse {
    fileprivate var text: String? { (self as? UNTextInputNotificationResponse)?.userText }
}
#endif
