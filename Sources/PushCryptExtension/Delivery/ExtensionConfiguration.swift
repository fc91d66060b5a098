public import PushCryptCore

/// How an extension restores pushes and what it shows; one value serves all pushes of a process.
///
/// The opener is made once, with the configuration: each push is opened with the keys and the senders that are current when
/// it comes.
public struct ExtensionConfiguration: Sendable {
    /// Opens the pushes. It holds the topic, which was checked when it was made, the keyring and the trusted senders.
    public internal(set) var opener: Opener
    /// What is shown for a push that wasn't restored.
    public var fallback: Fallback
    /// How long after the start the best content so far is shown at the latest; the system gives 30 seconds.
    public var deadline: Duration
    /// Shown once per boot in place of the placeholder while the keys can't be read yet.
    public var unlockNotice: UnlockNotice?
    /// What becomes of pushes that weren't sealed.
    public var unsealed: UnsealedPolicy = .refused
    /// Remembers what was shown; nil shows a push as often as it comes.
    public var replayGuard: (any ReplayGuard)?
    /// What becomes of a push that was shown before.
    public var replays: ReplayPolicy = .placeholder
    /// Resolves loc-keys; nil leaves them to the system.
    public var strings: (any StringTable)?
    /// Stands in for an empty body.
    public var defaultBody: String?
    /// Fetches a payload that didn't fit into its push; if that fails, the push's short alert is shown.
    public var offload: OffloadFetcher?
    /// How long fetching that payload may take, out of the session's time.
    public var offloadTimeLimit: Duration = .seconds(8)
    /// Fetches the attachments that the push names, usually an ``AttachmentStage``. The text is shown even if it fails.
    public var attachments: (any ContentStage)?
    /// Receives one report for each push: for a restored push as soon as its attachments are there, before the app's
    /// stages; for every other one, and if time runs out before that, after the content was handed over. It receives none
    /// for pushes that were let through unsealed.
    public var receipts: (any DeliveryReporter)?
    /// The app's own work on restored content, in order.
    public var stages: [any ContentStage] = []
    /// Receives a report for every push after its content was handed over.
    public var diagnostics: (any DeliveryReporter)?
    /// Gives the time that freshness is judged by.
    public var clock: @Sendable () -> UnixTime = { .now }
    /// Runs the deadline and the time limits of stages.
    public var timer: any DeadlineTimer = ThreadTimer()

    /// - Parameters:
    ///   - opener: opens the pushes.
    ///   - fallback: whether a failure shows the app's own text or what arrived outside; it has no default.
    ///   - deadline: how long after the start the best content so far is shown at the latest.
    public init(opener: Opener, fallback: Fallback, deadline: Duration = .seconds(25)) {
        self.opener = opener
        self.fallback = fallback
        self.deadline = deadline
    }

    /// - Parameters:
    ///   - topic: the app's bundle identifier, not the extension's.
    ///   - keyring: the recipient's keys.
    ///   - senders: the pinned sender keys, with which unsigned payloads are refused, or `.unsigned`.
    ///   - fallback: whether a failure shows the app's own text or what arrived outside; it has no default.
    ///   - deadline: how long after the start the best content so far is shown at the latest.
    /// - Throws: `KeyError` with `invalidTopic`.
    public init(
        topic: String, keyring: any RecipientKeyring, senders: SenderTrust, fallback: Fallback,
        deadline: Duration = .seconds(25)
    ) throws {
        self.init(
            opener: try Opener(topic: topic, keyring: keyring, senders: senders), fallback: fallback,
            deadline: deadline)
    }

    /// What becomes of a push that was shown before. A relay can send one again.
    public struct ReplayPolicy: Hashable, Sendable {
        private let isShown: Bool

        /// Its placeholder is shown.
        public static let placeholder = ReplayPolicy(isShown: false)
        /// Its content is shown without sound or interruption.
        public static let passive = ReplayPolicy(isShown: true)
    }

    /// What becomes of a push without a `pushcrypt` member that reaches the extension.
    public struct UnsealedPolicy: Sendable {
        let isShown: Bool
        let stages: [any UnsealedStage]

        /// It is the failure `notSealed`, and the app's own text is shown.
        public static let refused = UnsealedPolicy(isShown: false, stages: [])
        /// It is no failure and passes as it came, with all its members: for apps that mix.
        public static let shown = shown(stages: [])

        /// It passes as it came, through the app's own stages for such pushes, in order.
        public static func shown(stages: [any UnsealedStage]) -> UnsealedPolicy {
            UnsealedPolicy(isShown: true, stages: stages)
        }
    }
}

extension ExtensionConfiguration {
    /// The content in the user's language, if the app gave its strings.
    func localized(_ content: NotificationContent) -> NotificationContent {
        strings.map { content.localized(by: $0) } ?? content
    }

    /// The content of a push in the user's language.
    func content(of push: OpenedPush) -> NotificationContent {
        var content = localized(push.content)
        if content.body.isEmpty, let defaultBody { content.body.literal = defaultBody }
        return content
    }

    /// Whether the push names something that this extension doesn't fetch.
    func leavesOut(of push: OpenedPush) -> Bool {
        (push.offload != nil && offload == nil) || (!push.attachments.isEmpty && attachments == nil)
    }

    /// The delivery itself if it has text, otherwise one with the app's own text, which wasn't restored.
    ///
    /// The system shows the outer payload in place of content without text. So everything that is handed over passes this
    /// check right before the handler: restored content, the results of stages, placeholders, the unlock notice, unsealed
    /// pushes.
    func withText(_ delivery: DeliverySession.Delivery) -> DeliverySession.Delivery {
        guard !localized(delivery.content).hasText else { return delivery }
        // What was sealed with a key of the app's strings is genuine, and yet nothing of it can be shown.
        let failure = delivery.isRestored ? .malformed : delivery.failure ?? .notSealed
        let own = localized(fallback.bundledContent(failure))
        return DeliverySession.Delivery(
            content: own.hasText ? own : Fallback.bundled(.standard).bundledContent(failure), isRestored: false,
            failure: failure, stageFailures: delivery.stageFailures)
    }
}
