public import PushCryptCore
public import PushCryptExtension
import PushCryptPrimitives

/// The notifications on the screen, as ``KeptNotifications`` uses them. On Apple's systems `SystemNotifications` is the
/// notification centre.
public protocol ReplaceableNotifications: DeliveredNotifications {
    /// The notifications that are on the screen or in the list.
    func delivered() async -> [DeliveredNotification]

    /// Shows content at once, as a local notification with this name.
    func show(_ content: NotificationContent, requestID: String) async throws
}

/// A notification on the screen.
public struct DeliveredNotification: Hashable, Sendable {
    /// The system's name of the notification.
    public let requestID: String
    /// Its `userInfo` as JSON, UTF-8.
    public let userInfo: [UInt8]

    /// Creates a notification.
    public init(requestID: String, userInfo: [UInt8]) {
        self.requestID = requestID
        self.userInfo = userInfo
    }
}

/// Opens in the app what the extension couldn't, usually because the keys were locked until the device's first unlock.
///
/// ```
/// placeholder with a sealed message -> session of the app -> restored: show it as a local notification,
///                                                            then remove the placeholder
///                                                         -> not restored: the placeholder stays
/// ```
/// A session in the app has the same stages, attachments, receipts and counters as one in the extension. It claims the
/// message in the extension's store, so that the message is shown once.
public struct KeptNotifications: Sendable {
    /// What became of one placeholder.
    public struct Outcome: Hashable, Sendable {
        /// The name of the placeholder.
        public let placeholderID: String
        /// The name of the notification that replaces it; nil if it stays.
        public let requestID: String?
        /// The content that replaces it; nil if it stays.
        public let content: NotificationContent?
        /// Why the content isn't complete, or why the placeholder stays; nil if all was restored.
        public let failure: FailureClass?
    }

    private let configuration: ExtensionConfiguration
    private let notifications: any ReplaceableNotifications
    /// The `userInfo` of content as the app will receive it. Tests on other systems leave it as it is.
    var userInfo: @Sendable (NotificationContent) -> [UInt8] = { $0.userInfo }

    /// Creates an opener of placeholders.
    ///
    /// - Parameter configuration: the extension's: the same topic, keys, senders and stages, and a store with the role
    ///   `SharedStore.Role.extension`.
    public init(_ configuration: ExtensionConfiguration, in notifications: any ReplaceableNotifications) {
        self.configuration = configuration
        self.notifications = notifications
    }

    /// Opens all placeholders that have a sealed message, one after the other. Call it when the app starts or becomes active.
    ///
    /// - Returns: one outcome for each placeholder with a sealed message.
    public func open() async -> [Outcome] {
        var outcomes: [Outcome] = []
        for notification in await notifications.delivered() {
            guard let payload = KeptMessage.outerPayload(userInfo: notification.userInfo) else { continue }
            outcomes.append(await open(payload, notification.requestID))
        }
        return outcomes
    }

    private func open(_ payload: [UInt8], _ placeholderID: String) async -> Outcome {
        // Another name: if the process ends between the two calls, both notifications are there and none is lost.
        let requestID = "\(placeholderID)-opened"
        let delivery = await delivery(of: payload, requestID)
        guard delivery.isRestored, delivery.failure != .replayed,
            (try? await notifications.show(delivery.content, requestID: requestID)) != nil
        else {
            return Outcome(
                placeholderID: placeholderID, requestID: nil, content: nil, failure: delivery.failure ?? .internalError)
        }
        notifications.remove([placeholderID])
        return Outcome(
            placeholderID: placeholderID, requestID: requestID, content: delivery.content, failure: delivery.failure)
    }

    private func delivery(of payload: [UInt8], _ requestID: String) async -> DeliverySession.Delivery {
        await withCheckedContinuation { continuation in
            DeliverySession(
                payload: payload, requestID: requestID, configuration: configuration,
                convert: { [userInfo] content in
                    DeliverySession.SystemForm(userInfo: userInfo(content)) { continuation.resume(returning: $0) }
                }
            ).start()
        }
    }
}
