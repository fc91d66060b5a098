#if canImport(UserNotificationsUI) && !os(tvOS) && !os(watchOS)
#if os(Linux)
// Here a stub declares NSExtensionContext.
import Foundation
#else
public import Foundation
#endif
public import PushCryptApple
public import PushCryptExtension
import PushCryptPrimitives
public import UserNotifications
public import UserNotificationsUI

/// Runs an app's content extension on Apple's systems. The view controller of the extension's target adopts
/// `UNNotificationContentExtension`, and passes both calls on.
///
/// This module links UserNotificationsUI, and with it UIKit. It isn't a part of PushCryptApple, so that a notification service
/// extension doesn't spend memory on them.
@MainActor public final class ContentExtensionAdapter {
    private let contentExtension: any NotificationContentExtension
    private let host: NSExtensionContext?
    private let regions: RegionTriggers?

    /// Creates the adapter of a view controller.
    ///
    /// - Parameters:
    ///   - host: the view controller's `extensionContext`, whose actions are changed. It is nil until the system has loaded the
    ///     view controller, so create the adapter when the first notification arrives, with a `lazy var`.
    ///   - regions: converts the triggers of regions; without it the extension sees `unknown` for them.
    public init(
        _ contentExtension: any NotificationContentExtension, in host: NSExtensionContext?,
        regions: RegionTriggers? = nil
    ) {
        self.contentExtension = contentExtension
        self.host = host
        self.regions = regions
    }

    /// Shows a notification: `UNNotificationContentExtension.didReceive(_:)`. The system also calls it for a later notification
    /// of the thread.
    ///
    /// A category that only the Info.plist names isn't shown, as in the simulator.
    public func didReceive(_ notification: UNNotification) {
        guard serves(notification) else { return }
        let seen = DeliveredNotification(notification, regions)
        let context = SystemContext(notification.request.content.attachments) { [host] actions in
            host?.notificationActions = actions.map(\.system)
        }
        Task { await contentExtension.received(seen, in: context) }
    }

    /// Asks the extension what becomes of an action:
    /// `UNNotificationContentExtension.didReceive(_:completionHandler:)`. A tap and a dismissal are passed on to the app.
    public func didReceive(
        _ response: UNNotificationResponse,
        completionHandler completion: @escaping (UNNotificationContentExtensionResponseOption) -> Void
    ) {
        guard serves(response.notification), case .custom(let id) = ReceivedResponse.Action(response) else {
            return completion(.dismissAndForwardAction)
        }
        // The response has only the name of the action.
        let shown = host?.notificationActions.first { $0.identifier == id }.map(NotificationAction.init(_:))
        let (action, text) = (shown ?? NotificationAction(id: id, title: ""), response.text)
        Task { completion(await contentExtension.received(action, text: text).system) }
    }

    private func serves(_ notification: UNNotification) -> Bool {
        contentExtension.categories.contains(notification.request.content.categoryIdentifier)
    }
}

extension ContentExtensionResponse {
    fileprivate var system: UNNotificationContentExtensionResponseOption {
        switch self {
        case .doNotDismiss: .doNotDismiss
        case .dismiss: .dismiss
        case .dismissAndForward: .dismissAndForwardAction
        }
    }
}

/// What a content extension can use while it shows a notification.
private final class SystemContext: ContentExtensionContext {
    /// The system's own URLs, by path: one that is made of the path has no security scope.
    private let urls: [String: URL]
    private let opened = Locked<Set<String>>([])
    private let show: @MainActor @Sendable ([NotificationAction]) -> Void

    init(
        _ attachments: [UNNotificationAttachment], show: @escaping @MainActor @Sendable ([NotificationAction]) -> Void
    ) {
        urls = Dictionary(attachments.map { ($0.url.path, $0.url) }) { first, _ in first }
        self.show = show
    }

    // The system's object is for the main thread, and this may be called on any.
    func setActions(_ actions: [NotificationAction]) { Task { @MainActor [show] in show(actions) } }

    func startAccessing(_ attachment: NotificationContent.Attachment) -> Bool {
        guard let url = urls[attachment.path] else { return false }
        return opened.withLock { opened in
            if opened.contains(attachment.path) { return true }
            guard url.startAccessingSecurityScopedResource() else { return false }
            opened.insert(attachment.path)
            return true
        }
    }

    func stopAccessing(_ attachment: NotificationContent.Attachment) {
        opened.withLock { opened in
            if opened.remove(attachment.path) != nil { urls[attachment.path]?.stopAccessingSecurityScopedResource() }
        }
    }

    func read(_ attachment: NotificationContent.Attachment) -> [UInt8]? {
        guard opened.withLock({ $0.contains(attachment.path) }), let url = urls[attachment.path] else { return nil }
        return (try? Data(contentsOf: url)).map { [UInt8]($0) }
    }
}
#endif
