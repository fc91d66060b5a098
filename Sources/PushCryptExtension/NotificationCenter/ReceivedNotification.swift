public import PushCryptCore
import PushCryptPrimitives

/// A notification that the system hands the app, and what the app may rely on.
public enum ReceivedNotification: Hashable, Sendable {
    /// The extension restored it, or the app did so with ``KeptNotifications``.
    case restored(Restored)
    /// The app itself requested it.
    case local(NotificationRequest)
    /// A push that wasn't restored: anyone who can push to the device may have written all of it.
    case unverified(Unverified)

    /// A notification whose payload was opened and verified.
    public struct Restored: Hashable, Sendable {
        /// The system's name of the notification, `UNNotificationRequest.identifier`.
        public let requestID: String
        /// The message's id, 22 characters of base64url.
        public let messageID: String
        /// `userInfo` as the extension handed it over, JSON, UTF-8: the payload as its sender wrote it, unless a stage has
        /// changed it. Use its members and not the texts of the notification, which aren't verified again.
        public let payload: [UInt8]
    }

    /// A notification that wasn't restored. Its content isn't given to the app, with one exception.
    public struct Unverified: Hashable, Sendable {
        /// The system's name of the notification.
        public let requestID: String
        /// Why it isn't verified.
        public let reason: Reason
        /// `userInfo` of a push that wasn't sealed, JSON, UTF-8, if the app shows such pushes (``ExtensionConfiguration/unsealed``):
        /// for an app that still receives them. Everyone who can push to the device may have written it.
        public let payload: [UInt8]?

        /// Creates a notification, for tests.
        public init(requestID: String, reason: Reason, payload: [UInt8]? = nil) {
            (self.requestID, self.reason, self.payload) = (requestID, reason, payload)
        }
    }

    /// Why a notification isn't verified; more may be added.
    public struct Reason: Hashable, Sendable {
        package let name: String

        /// It has a sealed message: the extension didn't run, couldn't open it, or was out of time. ``KeptNotifications`` can
        /// open it.
        public static let sealed = Reason(name: "sealed")
        /// It looks like a placeholder of the extension, for a push that couldn't be restored.
        public static let placeholder = Reason(name: "placeholder")
        /// It has no member `pushcrypt`.
        public static let unsealed = Reason(name: "unsealed")
        /// It isn't in the store: it isn't from the extension, its message has expired, or the store couldn't be written when
        /// it was shown.
        public static let unknown = Reason(name: "unknown")
        /// The responder was connected without a ``NotificationVerifier``.
        public static let noVerifier = Reason(name: "noVerifier")
        /// The store can't be read, for example before the first unlock. Ask again later.
        public static let storeUnavailable = Reason(name: "storeUnavailable")
    }
}

/// Tells the notifications that the extension restored from all others.
public struct NotificationVerifier: Sendable {
    private let store: SharedStore
    private let clock: @Sendable () -> UnixTime

    /// Creates a verifier.
    ///
    /// - Parameter store: the app's, in the folder of the extension's store.
    public init(store: SharedStore, clock: @escaping @Sendable () -> UnixTime = { .now }) {
        self.store = store
        self.clock = clock
    }

    /// Looks for a notification in the store, on a thread of its own.
    public func received(_ notification: DeliveredNotification) async -> ReceivedNotification {
        await DedicatedThread.value { [self] in found(notification) }
    }

    private func found(_ notification: DeliveredNotification) -> ReceivedNotification {
        let (id, userInfo) = (notification.id, notification.userInfo)
        let found = Result { try store.restoredMessageID(requestID: id, userInfo: userInfo, at: clock()) }
        if let messageID = try? found.get() {
            return .restored(.init(requestID: id, messageID: messageID, payload: userInfo))
        }
        guard notification.request.trigger == .push else { return .local(notification.request) }
        return .unverified(.init(requestID: id, reason: Self.reason(userInfo, found)))
    }

    private static func reason(
        _ userInfo: [UInt8], _ found: Result<String?, any Error>
    ) -> ReceivedNotification.Reason {
        if KeptMessage.outerPayload(userInfo: userInfo) != nil { return .sealed }
        guard (try? found.get() as String??) != nil else { return .storeUnavailable }
        guard let root = (try? JSONText(userInfo))?.root, let member = root["pushcrypt"] else {
            return .unsealed
        }
        return member["status"]?.isString("failed") == true ? .placeholder : .unknown
    }
}

/// What the user did with a notification.
public struct ReceivedResponse: Hashable, Sendable {
    /// What was chosen.
    public enum Action: Hashable, Sendable {
        /// The notification was tapped.
        case open
        /// The notification was dismissed. The system reports it only for categories that ask for it.
        case dismiss
        /// An action of the category, with its identifier.
        case custom(String)
    }

    /// The notification.
    public let notification: ReceivedNotification
    /// What was chosen.
    public let action: Action
    /// The text of an action with text input; nil for other actions.
    public let text: String?

    /// Creates a response, for tests.
    public init(to notification: ReceivedNotification, action: Action, text: String? = nil) {
        self.notification = notification
        self.action = action
        self.text = text
    }
}
