public import PushCryptCore
package import PushCryptPrimitives

/// The settings of an extension: how it restores pushes and what it shows. One value is used for all pushes of a process.
///
/// The opener is created once. Each push is opened with the keys and the senders that are current when it is received.
public struct ExtensionConfiguration: Sendable {
    /// Opens the pushes; contains the topic, the keyring and the trusted senders.
    public package(set) var opener: Opener
    /// The text for a push that wasn't restored.
    public var fallback: Fallback
    /// The time after the start at which the best content so far is shown; the system allows 30 seconds.
    public var deadline: Duration
    /// The text shown once per boot, in place of the placeholder, before the keys can be read.
    public var unlockNotice: UnlockNotice?
    /// How pushes that weren't sealed are handled.
    public var unsealed: UnsealedPolicy = .refused
    /// Remembers which messages were shown, and counts the results of all pushes; nil shows a push every time it is received.
    public var store: SharedStore?
    /// The store as a session uses it. Tests and the simulator replace it.
    package var memory: (any DeliveryMemory)? {
        get { otherMemory ?? store }
        set { otherMemory = newValue }
    }
    private var otherMemory: (any DeliveryMemory)?
    /// Whether the extension has the entitlement `com.apple.developer.usernotifications.filtering`, which Apple grants to an
    /// app on request. With it, a stage can suppress a push, a quiet message isn't shown, and ``ReplayPolicy/suppressed``
    /// and a retracted message show nothing.
    ///
    /// Apple's system, from iOS 13.3 on, shows nothing if an extension with this entitlement calls the handler with empty
    /// content. Without the entitlement it ignores empty content and shows the original push, so don't set this if the
    /// entitlement is missing. If it is false, what should be suppressed is shown as passive and without sound.
    public var hasFilteringEntitlement = false
    /// Removes notifications from the screen whose messages were retracted or have expired. `PushCryptNotificationService`
    /// uses the system's notification centre if it is nil; a session without a service removes none.
    public var deliveredNotifications: (any DeliveredNotifications)?
    /// How a push that was shown before is handled.
    public var replays: ReplayPolicy = .placeholder
    /// Resolves loc-keys before the stages run. If the app lacks a key, the literal text beside it is shown; content without
    /// any text becomes the app's own text. A key itself is never shown.
    ///
    /// If nil, `PushCryptNotificationService` uses the app's Localizable.strings. A session without a service resolves none.
    public var strings: (any StringTable)?
    /// Replaces an empty body.
    public var defaultBody: String?
    /// Fetches a payload that was too long for its push. If that fails, the push's short alert is shown.
    public var offload: OffloadFetcher?
    /// How long fetching that payload may take; it is part of the session's time.
    public var offloadTimeLimit: Duration = .seconds(8)
    /// Fetches the picture of the message's sender, for the stages: ``OpenedPush/avatarPicture``. `CommunicationStage` shows it.
    /// If it fails, the push is shown without it, and the stage `avatar` is counted as failed.
    public var avatars: AvatarFetcher?
    /// How long fetching that picture may take; it is part of the session's time.
    public var avatarTimeLimit: Duration = .seconds(5)
    /// Fetches the attachments of the push, usually an ``AttachmentStage``. If it fails, the text is shown without them.
    public var attachments: (any ContentStage)?
    /// Sends the backend one receipt for each push, except for accepted unsealed pushes. The receipt is stored in ``store``
    /// together with all else that is remembered of the push, before its content is handed over, and then posted in the
    /// background. ``ReceiptSender`` sends what is left. Without a store, or if the store can't be used before the process
    /// ends, posting is tried once.
    public var receipts: ReceiptPosting?
    /// The app's stages for restored content, in order.
    public var stages: [any ContentStage] = []
    /// The app's last stage. It runs only if ``preview`` shows everything.
    public var finish: (any FinalStage)?
    /// How much the recipient wants to be shown, applied after the stages. Attachments that aren't shown aren't fetched. The
    /// text of an outer alert isn't shown unless everything is. If nil, everything is shown.
    public var preview: PreviewChoice?
    /// Receives a report for every push, after its content was handed over, for example a ``DeliveryLog``.
    public var diagnostics: (any DeliveryReporter)?
    /// The extension's version, such as `1.4 (77)`, for the counters. If it is empty, `PushCryptNotificationService` reads it from
    /// the Info.plist.
    public var version = ""
    /// The clock for freshness checks and reports.
    public var clock: @Sendable () -> UnixTime = { .now }
    /// The clock for the durations in reports.
    public var stopwatch: @Sendable () -> ContinuousClock.Instant = { .now }
    /// Runs the deadline, and the time limits of stages and of the store.
    public var timer: any DeadlineTimer = ThreadTimer()
    /// Makes what starts the threads of a session. The simulator replaces it, to know when a session works.
    package var threads: @Sendable () -> DedicatedThread.Start = { DedicatedThread.run }
    /// Tests replace it.
    package var keepRunning = ProcessActivity.system
    /// Whether a session opens in the app what the extension couldn't. Content that isn't restored is then neither shown,
    /// counted nor reported by a receipt: the extension has shown its placeholder and counted it.
    package var isReopening = false

    /// Creates a configuration with an opener.
    public init(opener: Opener, fallback: Fallback, deadline: Duration = .seconds(25)) {
        self.opener = opener
        self.fallback = fallback
        self.deadline = deadline
    }

    /// Creates a configuration with its own opener; see ``Opener/init(topic:keyring:senders:carriers:)``.
    ///
    /// - Parameter topic: the app's bundle identifier, not the extension's.
    /// - Throws: `KeyError` with `invalidTopic`.
    public init(
        topic: String, keyring: any RecipientKeyring, senders: SenderTrust, carriers: Set<Carrier> = [.apns],
        fallback: Fallback, deadline: Duration = .seconds(25)
    ) throws {
        self.init(
            opener: try Opener(topic: topic, keyring: keyring, senders: senders, carriers: carriers),
            fallback: fallback, deadline: deadline)
    }

    /// How a push that was shown before is handled. A relay can replay pushes.
    public struct ReplayPolicy: Hashable, Sendable {
        private let name: String

        /// Shows the placeholder.
        public static let placeholder = ReplayPolicy(name: "placeholder")
        /// Shows the content without sound or interruption, and without changing the badge.
        public static let passive = ReplayPolicy(name: "passive")
        /// Shows nothing with ``hasFilteringEntitlement``, and the placeholder without sound or interruption otherwise.
        public static let suppressed = ReplayPolicy(name: "suppressed")
    }

    /// How a push without a `pushcrypt` member is handled.
    public struct UnsealedPolicy: Sendable {
        let isShown: Bool
        let stages: [any UnsealedStage]

        /// The push fails with `notSealed`, and the app's own text is shown.
        public static let refused = UnsealedPolicy(isShown: false, stages: [])
        /// The push is shown unchanged, with all its members: for apps that receive both kinds.
        public static let shown = shown(stages: [])

        /// The push is shown after the app's stages for such pushes, which run in order.
        public static func shown(stages: [any UnsealedStage]) -> UnsealedPolicy {
            UnsealedPolicy(isShown: true, stages: stages)
        }
    }
}

extension ExtensionConfiguration {
    /// Erases the keys that have expired, after content was handed over.
    func eraseExpiredKeys(after push: OpenedPush?) {
        guard opener.keyring.hasDayKeys, let end = keepRunning() else { return }
        opener.keyring.erase(after: push, at: clock())
        end()
    }

    /// The content with texts in the user's language in place of keys.
    func localized(_ content: NotificationContent) -> NotificationContent {
        content.localized(by: strings ?? [String: String]())
    }

    /// The content of a push in the user's language.
    func content(of push: OpenedPush) -> NotificationContent {
        var content = localized(push.content)
        if content.body.isEmpty, let defaultBody { content.body.literal = defaultBody }
        return content
    }

    /// The delivery as it is handed to the system. All content passes these checks right before the handler: restored
    /// content, the results of stages, placeholders, the unlock notice and unsealed pushes.
    func shown(
        _ delivery: DeliverySession.Delivery, _ preview: NotificationPreview
    ) -> DeliverySession.Delivery {
        suppressed(showing(preview, withText(delivery)))
    }

    /// The delivery if it has text, otherwise a delivery with the app's own text, which isn't restored: the system would show
    /// the outer payload in place of content without text.
    private func withText(_ delivery: DeliverySession.Delivery) -> DeliverySession.Delivery {
        guard !delivery.content.hasText else { return delivery }
        let failure = delivery.isRestored ? .malformed : delivery.failure ?? .notSealed
        return DeliverySession.Delivery(
            content: ownText(failure), isRestored: false, failure: failure, stageFailures: delivery.stageFailures)
    }

    /// The delivery with empty content if it is to be suppressed, the app may do so, and the push didn't fail. It is the only
    /// place that makes empty content.
    private func suppressed(_ delivery: DeliverySession.Delivery) -> DeliverySession.Delivery {
        guard delivery.content.isSuppressed else { return delivery }
        let isFailure = !delivery.isRestored && ![nil, .replayed, .retracted].contains(delivery.failure)
        guard hasFilteringEntitlement, !isFailure else { return delivery.with(delivery.content.passive) }
        var empty = NotificationContent()
        empty.isSuppressed = true
        return delivery.with(empty)
    }

    private func ownText(_ failure: FailureClass) -> NotificationContent {
        let own = localized(fallback.bundledContent(failure))
        return own.hasText ? own : Fallback.bundled(.standard).bundledContent(failure)
    }

    /// The delivery without what the recipient doesn't want to be shown. A placeholder is shown as it is.
    private func showing(
        _ preview: NotificationPreview, _ delivery: DeliverySession.Delivery
    ) -> DeliverySession.Delivery {
        guard delivery.isRestored || delivery.isUnsealed else { return delivery }
        return delivery.with(delivery.content.showing(preview, ownText: ownText(.malformed)))
    }
}
