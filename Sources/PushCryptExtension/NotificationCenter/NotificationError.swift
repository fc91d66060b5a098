public import PushCryptPrimitives

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
