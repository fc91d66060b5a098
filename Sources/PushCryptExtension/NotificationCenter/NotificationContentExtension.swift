/// An app's notification content extension: `UNNotificationContentExtension`. The system loads it when the user opens a
/// notification of its category in the list. `ContentExtensionAdapter` of PushCryptAppleUI calls it on Apple's systems, and
/// `SimulatedNotificationCenter` of PushCryptSimulator in tests.
public protocol NotificationContentExtension: Sendable {
    /// The categories that it shows: `UNNotificationExtensionCategory` in its Info.plist, which must name the same ones.
    var categories: [String] { get }

    /// Whether the system's own view of title, subtitle and body is hidden: `UNNotificationExtensionDefaultContentHidden` in
    /// its Info.plist, which must say the same.
    var hidesDefaultContent: Bool { get }

    /// Shows a notification. `didReceive(_:)`.
    ///
    /// It may be a push that wasn't restored, which anyone may have written who can push to the device:
    /// ``NotificationVerifier`` tells.
    func received(_ notification: DeliveredNotification, in context: any ContentExtensionContext) async

    /// The user has chosen an action. `didReceive(_:completionHandler:)`.
    ///
    /// - Parameter text: what the user wrote, for an action with a text field; nil for other actions.
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
public protocol ContentExtensionContext: Sendable {
    /// Replaces the actions while the notification is shown: `NSExtensionContext.notificationActions`.
    func setActions(_ actions: [NotificationAction])

    /// Begins to use an attachment of the notification, whose file is outside the extension's sandbox:
    /// `UNNotificationAttachment`, `startAccessingSecurityScopedResource()`. A second call before ``stopAccessing(_:)`` changes
    /// nothing.
    ///
    /// - Returns: whether the file can be read.
    func startAccessing(_ attachment: NotificationContent.Attachment) -> Bool

    /// Ends the use of an attachment: `stopAccessingSecurityScopedResource()`.
    func stopAccessing(_ attachment: NotificationContent.Attachment)

    /// The bytes of an attachment; nil unless ``startAccessing(_:)`` was called before.
    func read(_ attachment: NotificationContent.Attachment) -> [UInt8]?
}
