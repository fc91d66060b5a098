public import PushCryptNotifications
import PushCryptPrimitives

/// An app's notification content extension: `UNNotificationContentExtension`. The system loads it when the user opens a
/// notification of its category in the list.
public protocol NotificationContentExtension: Sendable {
    /// The categories that it shows: `UNNotificationExtensionCategory` in its Info.plist.
    var categories: [String] { get }

    /// Whether the system's own view of title, subtitle and body is hidden: `UNNotificationExtensionDefaultContentHidden`.
    var hidesDefaultContent: Bool { get }

    /// Shows a notification. `didReceive(_:)`.
    func received(_ notification: DeliveredNotification, in context: ContentExtensionContext) async

    /// The user has chosen an action. `didReceive(_:completionHandler:)`.
    func received(_ action: NotificationAction, text: String?) async -> ContentExtensionResponse
}

extension NotificationContentExtension {
    /// The system's view stays.
    public var hidesDefaultContent: Bool { false }

    /// Removes the notification and passes the action on to the app, as if the method weren't implemented.
    public func received(_ action: NotificationAction, text: String?) async -> ContentExtensionResponse {
        .dismissAndForward
    }
}

/// What becomes of a notification after its content extension has handled an action:
/// `UNNotificationContentExtensionResponseOption`.
public enum ContentExtensionResponse: Hashable, Sendable {
    /// The notification stays, and the app doesn't learn of the action.
    case doNotDismiss
    /// The notification is removed, and the app doesn't learn of the action.
    case dismiss
    /// The notification is removed, and the app receives the action.
    case dismissAndForward
}

/// What a content extension can use while it shows a notification.
public final class ContentExtensionContext: Sendable {
    /// The content whose title, subtitle and body the system shows beside the extension's view; nil if the extension hides them:
    /// ``NotificationContentExtension/hidesDefaultContent``.
    public let defaultContent: NotificationContent?
    private let files: [String: [UInt8]]
    private let opened = Locked<Set<String>>([])
    private let changed = Locked<[NotificationAction]?>(nil)

    init(defaultContent: NotificationContent?, files: [String: [UInt8]]) {
        (self.defaultContent, self.files) = (defaultContent, files)
    }

    /// Replaces the actions while the notification is shown: `NSExtensionContext.notificationActions`.
    public func setActions(_ actions: [NotificationAction]) { changed.withLock { $0 = actions } }

    /// The actions that the extension has set; nil if it has set none.
    public var actions: [NotificationAction]? { changed.withLock { $0 } }

    /// Begins to use an attachment, whose file is outside the extension's sandbox: `UNNotificationAttachment`,
    /// `startAccessingSecurityScopedResource()`.
    ///
    /// - Returns: whether there is such a file.
    public func startAccessing(_ attachment: NotificationContent.Attachment) -> Bool {
        guard files[attachment.path] != nil else { return false }
        opened.withLock { _ = $0.insert(attachment.path) }
        return true
    }

    /// Ends the use of an attachment: `stopAccessingSecurityScopedResource()`.
    public func stopAccessing(_ attachment: NotificationContent.Attachment) {
        opened.withLock { _ = $0.remove(attachment.path) }
    }

    /// The bytes of an attachment; nil unless ``startAccessing(_:)`` was called before.
    public func read(_ attachment: NotificationContent.Attachment) -> [UInt8]? {
        opened.withLock { $0.contains(attachment.path) } ? files[attachment.path] : nil
    }

    /// The attachments whose use wasn't ended.
    public var accessedPaths: Set<String> { opened.withLock { $0 } }
}

/// A content extension that shows a notification.
struct ShownContentExtension: Sendable {
    let `extension`: any NotificationContentExtension
    let context: ContentExtensionContext

    var actions: [NotificationAction]? { context.actions }
}

extension SimulatedNotificationCenter {
    /// Installs an app's content extension.
    public func addContentExtension(_ contentExtension: any NotificationContentExtension) {
        state.withLock { $0.contentExtensions.append(contentExtension) }
    }

    /// The user opens a notification in the list, without opening the app.
    ///
    /// "Customizing the Appearance of Notifications": the system shows the content extension of the category, if there is one,
    /// and its own view of title, subtitle and body beside it, unless the extension hides that view.
    ///
    /// - Returns: what the extension can use, and what is shown beside it; nil if no extension serves the category.
    @discardableResult
    public func expand(_ requestID: String) async throws -> ContentExtensionContext? {
        let notification = try listed(requestID)
        let content = notification.request.content
        // Without the lock: the extensions are code of the test, which may use this object.
        let extensions = state.withLock { $0.contentExtensions }
        guard let found = extensions.first(where: { $0.categories.contains(content.category ?? "") }) else {
            return nil
        }
        let paths = content.attachments.map(\.path)
        let context = ContentExtensionContext(
            defaultContent: found.hidesDefaultContent ? nil : content,
            files: state.withLock { $0.files.filter { paths.contains($0.key) } })
        state.withLock { $0.shown[requestID] = ShownContentExtension(extension: found, context: context) }
        await clock.run { await found.received(notification, in: context) }
        return context
    }

    /// The user closes the notification that ``expand(_:)`` has opened.
    public func collapse(_ requestID: String) { state.withLock { $0.shown[requestID] = nil } }
}
