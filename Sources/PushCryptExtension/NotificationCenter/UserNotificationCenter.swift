public import PushCryptPrimitives

/// What an app asks the system's notification centre for. `SystemNotifications` of PushCryptApple is the centre of Apple's
/// systems, and `SimulatedNotificationCenter` of PushCryptSimulator a model of it: code that uses this protocol runs with both.
///
/// A call that the documentation of `UNUserNotificationCenter` describes is named in each comment.
public protocol UserNotificationCenter: DeliveredNotifications {
    /// Asks the user for permission. The system shows its question once; later calls return the user's last answer.
    /// `requestAuthorization(options:completionHandler:)`.
    ///
    /// - Returns: whether at least one of the options is granted.
    func requestAuthorization(_ options: NotificationOptions) async throws -> Bool

    /// What the user allows at present. `getNotificationSettings(completionHandler:)`.
    func settings() async -> NotificationSettings

    /// Replaces all categories. `setNotificationCategories(_:)`.
    func setCategories(_ categories: [NotificationCategory])

    /// The categories, in any order. `getNotificationCategories(completionHandler:)`.
    func categories() async -> [NotificationCategory]

    /// Schedules a notification, or shows it at once if it has no trigger. It replaces a pending one with the same name at once,
    /// and a delivered one when it is shown. `add(_:withCompletionHandler:)`.
    ///
    /// - Throws: why the system refuses it, such as for an attachment.
    func add(_ request: NotificationRequest) async throws

    /// The scheduled notifications, in any order. `getPendingNotificationRequests(completionHandler:)`.
    func pending() async -> [NotificationRequest]

    /// Removes scheduled notifications. Names without one are ignored.
    /// `removePendingNotificationRequests(withIdentifiers:)`.
    func removePending(_ requestIDs: [String])

    /// Removes all scheduled notifications. `removeAllPendingNotificationRequests()`.
    func removeAllPending()

    /// The notifications in the list, which the user or the app hasn't removed.
    /// `getDeliveredNotifications(completionHandler:)`.
    func delivered() async -> [DeliveredNotification]

    /// Removes all notifications from the list. `removeAllDeliveredNotifications()`.
    func removeAllDelivered()

    /// Sets the number on the app's icon; 0 removes it. `setBadgeCount(_:withCompletionHandler:)`.
    func setBadgeCount(_ count: Int) async throws
}

/// A notification to show: `UNNotificationRequest`.
public struct NotificationRequest: Hashable, Sendable {
    /// The name. A request with the name of an earlier one replaces it.
    public var id: String
    /// What is shown.
    public var content: NotificationContent
    /// When it is shown; nil for at once.
    public var trigger: NotificationTrigger?

    /// Creates a request.
    public init(id: String, content: NotificationContent, trigger: NotificationTrigger? = nil) {
        self.id = id
        self.content = content
        self.trigger = trigger
    }
}

/// A notification in the list: `UNNotification`.
public struct DeliveredNotification: Hashable, Sendable {
    /// What was shown.
    public var request: NotificationRequest
    /// Its `userInfo` as the app receives it, JSON, UTF-8.
    public var userInfo: [UInt8]
    /// When it was delivered.
    public var time: UnixTime

    /// Creates a notification. `userInfo` is that of the content unless it is given.
    public init(_ request: NotificationRequest, userInfo: [UInt8]? = nil, at time: UnixTime) {
        self.request = request
        self.userInfo = userInfo ?? request.content.userInfo
        self.time = time
    }

    /// The name of the request.
    public var id: String { request.id }
}

/// Why a notification centre refuses a request: `UNError`.
public struct NotificationError: DescribedError, Hashable, Sendable {
    /// The kind of failure; more may be added.
    public struct Code: Hashable, Sendable {
        package let name: String

        /// The user doesn't allow notifications, or wasn't asked.
        public static let notAllowed = Code(name: "notAllowed")
        /// The trigger can't be used: see ``NotificationTrigger``.
        public static let invalidTrigger = Code(name: "invalidTrigger")
        /// The content has nothing that the user sees or hears: neither text nor badge nor sound.
        public static let invalidContent = Code(name: "invalidContent")
        /// The system can't show a file of this type or size, or the file doesn't exist.
        public static let invalidAttachment = Code(name: "invalidAttachment")
    }

    /// The kind of failure.
    public let code: Code
    /// What is wrong, for logs; it contains no content.
    public let reason: String

    /// Creates an error.
    public init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    /// The reason.
    public var description: String { reason }
}
