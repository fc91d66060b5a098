public import PushCryptExtension

/// What the user sees of one push, and how it came to that.
public struct Presentation: Hashable, Sendable {
    public let content: NotificationContent
    public let origin: Origin

    /// Why this content is shown; more may be added.
    public struct Origin: Hashable, Sendable, CustomStringConvertible {
        public let description: String

        /// The extension handed it over.
        public static let handedOver = Origin(description: "handed over")
        /// The original: no alert, or no `"mutable-content": 1`, so that the extension wasn't run.
        public static let notRun = Origin(description: "the original: the extension wasn't run")
        /// The original: what was handed over had no text.
        public static let emptied = Origin(description: "the original: no text was handed over")
        /// The original: the handler wasn't called in time.
        public static let expired = Origin(description: "the original: the time was over")
        /// The original: the process ended before the handler was called.
        public static let died = Origin(description: "the original: the process died")
    }
}
