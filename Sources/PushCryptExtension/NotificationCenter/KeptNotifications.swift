public import PushCryptCore
import PushCryptPrimitives

/// Opens in the app what the extension couldn't, usually because the keys were locked until the device's first unlock.
///
/// ```
/// placeholder with a sealed message -> session of the app
///     -> restored: show it as a local notification, then remove the placeholder
///     -> expired or retracted: remove the placeholder
///     -> another failure: the placeholder stays, and the next call tries again
/// ```
/// Create one for the app, so that it knows which placeholders were tapped.
///
/// A session in the app has the same stages, attachments and receipts as one in the extension. It claims the message in the
/// extension's store, so that the message is shown once. A failure is neither counted nor reported by a receipt: the extension
/// did both.
public struct KeptNotifications: Sendable {
    /// What became of one placeholder.
    public struct Outcome: Hashable, Sendable {
        /// The name of the placeholder.
        public let placeholderID: String
        /// Whether the placeholder was removed.
        public let isRemoved: Bool
        /// The name of the notification that replaces it: that of the placeholder with the suffix `-opened`. Nil if there is none.
        public let requestID: String?
        /// The content that replaces it; nil if there is none.
        public let content: NotificationContent?
        /// Why the content isn't complete, or why there is none; nil if all was restored.
        public let failure: FailureClass?
    }

    static let suffix = "-opened"
    private var configuration: ExtensionConfiguration
    var showsUnsealed: Bool { configuration.unsealed.isShown }
    /// Placeholders have the envelope beside `aps`, and pushes for which the extension didn't run have it where it came.
    private let places: EnvelopePlaces
    /// The placeholders that the user has tapped and that couldn't be opened yet. The system has removed them from the list.
    private let tapped = Locked<[DeliveredNotification]>([])
    /// What was restored and couldn't be shown, by placeholder: the store counts it as shown.
    private let unshown = Locked<[String: DeliverySession.Delivery]>([:])
    private let center: any UserNotificationCenter
    /// Returns the attachments that the system refuses, and `userInfo` as the app will receive it. Apple's systems change its
    /// form.
    package var systemForm: @Sendable (NotificationContent) -> (refused: [Attachment], userInfo: [UInt8]) = {
        ([], $0.userInfo)
    }

    package typealias Attachment = NotificationContent.Attachment
    package typealias Session = @Sendable () async -> DeliverySession.Delivery
    /// Runs a session. The simulator replaces it, to move its clock.
    package var perform: @Sendable (@escaping Session) async -> DeliverySession.Delivery = { await $0() }

    /// Creates an opener of placeholders.
    ///
    /// - Parameter configuration: the extension's: the same topic, keys, senders and stages, and a store with the role
    ///   `SharedStore.Role.extension`. Set its `strings`, which only `PushCryptNotificationService` sets by itself.
    public init(_ configuration: ExtensionConfiguration, in center: any UserNotificationCenter) {
        self.configuration = configuration
        self.configuration.isReopening = true
        self.configuration.opener = configuration.opener.readingKeptMessages
        places = EnvelopePlaces(configuration.opener.carriers.union([.apns]))
        self.configuration.deliveredNotifications = configuration.deliveredNotifications ?? center
        self.center = center
    }

    /// Opens all placeholders that have a sealed message, one after the other, also those that were tapped and couldn't be opened
    /// then. Call it when the app becomes active, and after it has registered, which may have fetched newer sender keys.
    ///
    /// - Returns: one outcome for each placeholder with a sealed message. Of two calls at once, one has the failure `replayed`.
    @discardableResult
    public func open() async -> [Outcome] {
        var outcomes: [Outcome] = []
        for notification in await center.delivered() + tapped.withLock({ $0 }) {
            guard let payload = KeptMessage.outerPayload(userInfo: notification.userInfo, at: places) else { continue }
            let outcome = await open(payload, notification.id)
            if outcome.isRemoved { tapped.withLock { $0.removeAll { $0 == notification } } }
            outcomes.append(outcome)
        }
        return outcomes
    }

    /// Opens the message of a placeholder that the user has tapped, and shows nothing: the system has removed the placeholder,
    /// and the app opens.
    ///
    /// - Returns: nil if the notification has no sealed message, or the message can't be opened. If it can't be opened yet,
    ///   ``open()`` tries again while the app runs.
    public func restored(_ placeholder: DeliveredNotification) async -> ReceivedNotification.Restored? {
        guard let payload = KeptMessage.outerPayload(userInfo: placeholder.userInfo, at: places) else { return nil }
        // Nothing is shown, so no file is fetched.
        var configuration = configuration
        (configuration.attachments, configuration.avatars) = (configuration.attachments.map { _ in NoFiles() }, nil)
        let delivery = await delivery(of: payload, placeholder.id, configuration)
        guard delivery.isRestored, delivery.failure != .replayed, let messageID = delivery.messageID else {
            let failure = delivery.failure ?? .internalError
            if failure != .replayed, failure.defined?.consequence.placeholder != .isRemoved {
                tapped.withLock { if !$0.contains(placeholder) { $0.append(placeholder) } }
            }
            return nil
        }
        center.remove([placeholder.id])
        return ReceivedNotification.Restored(
            requestID: placeholder.id, messageID: messageID, payload: systemForm(delivery.content).userInfo)
    }

    private func open(_ payload: [UInt8], _ placeholderID: String) async -> Outcome {
        // Another name: if the process ends between the two calls, both notifications are there and none is lost.
        let requestID = placeholderID + Self.suffix
        let earlier = unshown.withLock { $0.removeValue(forKey: placeholderID) }
        let delivery: DeliverySession.Delivery
        if let earlier {
            delivery = earlier
        } else {
            delivery = await self.delivery(of: payload, requestID, configuration)
        }
        guard delivery.isRestored, delivery.failure != .replayed else {
            let failure = delivery.failure ?? .internalError
            let isFinal = failure.defined?.consequence.placeholder == .isRemoved
            if isFinal { center.remove([placeholderID]) }
            return Outcome(
                placeholderID: placeholderID, isRemoved: isFinal, requestID: nil, content: nil, failure: failure)
        }
        guard !delivery.isSuppressed else {
            // Such as a quiet message, for an app that may show nothing.
            center.remove([placeholderID])
            return Outcome(
                placeholderID: placeholderID, isRemoved: true, requestID: nil, content: nil, failure: delivery.failure)
        }
        guard (try? await center.add(NotificationRequest(id: requestID, content: delivery.content))) != nil else {
            unshown.withLock { $0[placeholderID] = delivery }
            return Outcome(
                placeholderID: placeholderID, isRemoved: false, requestID: nil, content: nil, failure: .internalError)
        }
        center.remove([placeholderID])
        return Outcome(
            placeholderID: placeholderID, isRemoved: true, requestID: requestID, content: delivery.content,
            failure: delivery.failure)
    }

    private func delivery(
        of payload: [UInt8], _ requestID: String, _ configuration: ExtensionConfiguration
    ) async -> DeliverySession.Delivery {
        await perform { [systemForm] in
            await withCheckedContinuation { continuation in
                DeliverySession(
                    payload: payload, requestID: requestID, configuration: configuration,
                    convert: { content in
                        let (refused, userInfo) = systemForm(content)
                        return DeliverySession.SystemForm(refused: refused, userInfo: userInfo) {
                            continuation.resume(returning: $0)
                        }
                    }
                ).start()
            }
        }
    }
}

/// Fetches no attachments.
private struct NoFiles: ContentStage {
    func process(_ content: NotificationContent, of push: OpenedPush) async throws -> NotificationContent { content }
}
