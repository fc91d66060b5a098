extension DeliverySession {
    /// How sessions behave; the same for all of an app.
    public struct Configuration: Sendable {
        /// What is shown for a push that wasn't restored.
        public var fallback: Fallback
        /// How long after the start the best content so far is shown at the latest; the system gives 30 seconds.
        public var deadline: Duration
        /// Shown once per boot in place of the placeholder while the keys can't be read yet.
        public var unlockNotice: UnlockNotice?
        /// What becomes of pushes that weren't sealed.
        public var unsealed: UnsealedPolicy
        /// Remembers what was shown; nil shows a push as often as it comes.
        public var replayGuard: (any ReplayGuard)?
        /// What becomes of a push that was shown before.
        public var replays: ReplayPolicy
        /// Resolves loc-keys; nil leaves them to the system.
        public var strings: (any StringTable)?
        /// Stands in for an empty body.
        public var defaultBody: String?
        /// Fetches a payload that didn't fit into its push; where it can't be had, the push's short alert is shown.
        public var offload: OffloadFetcher?
        /// How long that may take, out of the session's time.
        public var offloadTimeLimit: Duration
        /// Fetches what the push names; the text is shown whatever becomes of it. An ``AttachmentStage``, as a rule.
        public var attachments: (any ContentStage)?
        /// Is called once for each push: for one that was restored as soon as its attachments are there, before the app's
        /// stages; for the others, and where time ran out before that, when the content was handed over. It isn't called for
        /// pushes that were let through unsealed.
        public var receipts: (any DeliveryReporter)?
        /// The app's own work on restored content, in order.
        public var stages: [any ContentStage]
        /// Hears of every push once its content was handed over.
        public var diagnostics: (any DeliveryReporter)?

        /// - Parameter fallback: whether a failure shows the app's own text or what arrived outside: the app says which.
        public init(fallback: Fallback, deadline: Duration = .seconds(25)) {
            self.fallback = fallback
            self.deadline = deadline
            unsealed = .refused
            replays = .placeholder
            offloadTimeLimit = .seconds(8)
            stages = []
        }
    }

    /// What becomes of a push that was shown before. A relay can send one again.
    public struct ReplayPolicy: Hashable, Sendable {
        private let isShown: Bool

        /// Its placeholder is shown.
        public static let placeholder = ReplayPolicy(isShown: false)
        /// Its content is shown without sound or interruption.
        public static let passive = ReplayPolicy(isShown: true)
    }
}
