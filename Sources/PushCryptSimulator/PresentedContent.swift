public import PushCryptExtension

/// The content that is shown for one push, and why.
public struct PresentedContent: Hashable, Sendable {
    /// What is shown; nil for nothing.
    public let content: NotificationContent?
    /// Why.
    public let origin: Origin

    /// Why this content is shown; more may be added.
    public struct Origin: Hashable, Sendable, CustomStringConvertible {
        /// The reason, for people.
        public let description: String

        /// The extension handed it over in time.
        public static let handedOver = Origin(description: "handed over")
        /// Nothing: the user doesn't allow alerts, or wasn't asked. The extension doesn't run.
        public static let notAllowed = Origin(description: "nothing: the user doesn't allow notifications")
        /// Nothing: neither a banner nor the list nor the lock screen has it. The user's settings decide that, and in the
        /// foreground the app's responder; without a responder nothing is shown.
        public static let notPresented = Origin(description: "nothing: the app or the user's settings hide it")
        /// The original: the push has no `mutable-content: 1`, or the app has no extension.
        public static let notRun = Origin(description: "the original is shown: the extension didn't run")
        /// The original: the extension handed over no text, and has no entitlement to show nothing.
        public static let emptied = Origin(description: "the original is shown: the extension handed over no text")
        /// Nothing: the extension handed over no text, and has the entitlement for notification filtering.
        public static let suppressed = Origin(description: "nothing: the extension suppressed it")
        /// The original: the handler wasn't called in time.
        public static let expired = Origin(description: "the original is shown: the handler wasn't called in time")
        /// The original: the process ended.
        public static let died = Origin(description: "the original is shown: the system ended the extension's process")
    }
}
