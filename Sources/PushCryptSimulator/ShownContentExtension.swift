public import PushCryptExtension
import PushCryptPrimitives

/// What a content extension can use while it shows a notification, and what it has used.
public final class SimulatedContentExtensionContext: ContentExtensionContext {
    /// The content whose title, subtitle and body the system shows beside the extension's view; nil if the extension hides them:
    /// `NotificationContentExtension.hidesDefaultContent`.
    public let defaultContent: NotificationContent?
    private let files: [String: [UInt8]]
    private let opened = Locked<Set<String>>([])
    private let changed = Locked<[NotificationAction]?>(nil)

    init(defaultContent: NotificationContent?, files: [String: [UInt8]]) {
        (self.defaultContent, self.files) = (defaultContent, files)
    }

    /// Replaces the actions while the notification is shown.
    public func setActions(_ actions: [NotificationAction]) { changed.withLock { $0 = actions } }

    /// The actions that the extension has set; nil if it has set none.
    public var actions: [NotificationAction]? { changed.withLock { $0 } }

    /// Begins to use an attachment. `UNNotificationAttachment`: its file is security scoped.
    ///
    /// - Returns: whether there is such a file.
    public func startAccessing(_ attachment: NotificationContent.Attachment) -> Bool {
        guard files[attachment.path] != nil else { return false }
        opened.withLock { _ = $0.insert(attachment.path) }
        return true
    }

    /// Ends the use of an attachment.
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
    let context: SimulatedContentExtensionContext

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
    public func expand(_ requestID: String) async throws -> SimulatedContentExtensionContext? {
        let notification = try listed(requestID)
        let content = notification.request.content
        // Without the lock: the extensions are code of the test, which may use this object.
        let extensions = state.withLock { $0.contentExtensions }
        guard let found = extensions.first(where: { $0.categories.contains(content.category ?? "") }) else {
            return nil
        }
        let paths = content.attachments.map(\.path)
        let context = SimulatedContentExtensionContext(
            defaultContent: found.hidesDefaultContent ? nil : content,
            files: state.withLock { $0.files.filter { paths.contains($0.key) } })
        state.withLock { $0.shown[requestID] = ShownContentExtension(extension: found, context: context) }
        await clock.run { await found.received(notification, in: context) }
        return context
    }

    /// The user closes the notification that ``expand(_:)`` has opened.
    ///
    /// - Returns: whether it showed the notification.
    @discardableResult
    public func collapse(_ requestID: String) -> Bool {
        state.withLock { $0.shown.removeValue(forKey: requestID) } != nil
    }
}
