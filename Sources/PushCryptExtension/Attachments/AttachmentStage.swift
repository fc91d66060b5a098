import PushCryptCore

/// Fetches what is shown with the text: the encrypted blobs that the message names, and plain files by address, one after the
/// other. Attachments that can't be fetched are counted, and the others are shown.
public struct AttachmentStage: ContentStage {
    /// Where attachments are written, and how many are fetched in what time.
    public struct Configuration: Sendable {
        /// Where files are written, made in its parent where there is none. It belongs to the stage, which removes what
        /// processes left there that were killed.
        public var folder: String
        /// Members of the sealed payload that hold the address of a file, as `image_url` or `aps.alert.image`. The file
        /// isn't encrypted: its server, and whoever has its address, can see it and can change it.
        public var plainMembers: [String]
        /// How many attachments are fetched; those beyond are missing.
        public var maximumCount: Int
        /// For all of them, out of the session's time. What is complete a second before its end is shown.
        public var timeLimit: Duration
        /// How much of that time is kept for each attachment that waits for its turn: a slow server can't use up the time
        /// of the others. Where there isn't so much, each has an equal share.
        public var reservedTime: Duration

        /// Makes a configuration of its members; only the folder has no default.
        public init(
            folder: String, plainMembers: [String] = [], maximumCount: Int = AttachmentReference.maximumCount,
            timeLimit: Duration = .seconds(15), reservedTime: Duration = .seconds(2)
        ) {
            self.folder = folder
            self.plainMembers = plainMembers
            self.maximumCount = maximumCount
            self.timeLimit = timeLimit
            self.reservedTime = reservedTime
        }
    }

    /// The name in diagnostics, `attachments`.
    public let name = "attachments"
    private let configuration: Configuration
    private let downloader: AttachmentDownloader
    private let timer: any DeadlineTimer
    private let now: @Sendable () -> ContinuousClock.Instant
    private let onFailure: @Sendable (_ identifier: String, any Error) -> Void

    /// - Parameters:
    ///   - timer: runs the time limits.
    ///   - configuration: where attachments are written, and how many are fetched in what time.
    ///   - transport: fetches them.
    ///   - onFailure: called for each attachment that couldn't be fetched, with its `id` and the reason: `AttachmentError`
    ///     or `TransferError`.
    public init(
        configuration: Configuration, transport: any HTTPTransport, timer: any DeadlineTimer = ThreadTimer(),
        onFailure: @escaping @Sendable (_ identifier: String, any Error) -> Void = { _, _ in }
    ) {
        self.init(
            configuration: configuration, transport: transport, timer: timer, now: { .now }, onFailure: onFailure)
    }

    /// - Parameter now: tells how much time is left.
    package init(
        configuration: Configuration, transport: any HTTPTransport, timer: any DeadlineTimer,
        now: @escaping @Sendable () -> ContinuousClock.Instant,
        onFailure: @escaping @Sendable (_ identifier: String, any Error) -> Void
    ) {
        self.configuration = configuration
        self.timer = timer
        self.now = now
        self.onFailure = onFailure
        downloader = AttachmentDownloader(
            transport: transport, folder: AttachmentFolder(path: configuration.folder))
    }

    /// The configured time limit.
    public var timeLimit: Duration? { configuration.timeLimit }

    /// Adds the attachments of the push that can be fetched, and counts the others as missing.
    ///
    /// - Throws: `CancellationError` if the task was cancelled; no file is left then.
    public func process(
        _ content: NotificationContent, of push: OpenedPush
    ) async throws -> NotificationContent {
        // Before the session would end the stage: it uses nothing of one that it had to cancel.
        let end = now() + min(configuration.timeLimit, .seconds(86_400)) - .seconds(1)
        downloader.folder.removeLeftovers()
        let sources = AttachmentSource.all(of: push, members: configuration.plainMembers)
        guard !sources.isEmpty else { return content }
        var complete = content
        complete.attachments += await attachments(from: sources, until: end)
        guard !Task.isCancelled else {
            complete.removeFiles(notIn: content)
            throw CancellationError()
        }
        complete.missingAttachmentCount += content.attachments.count + sources.count - complete.attachments.count
        return complete
    }

    private func attachments(
        from sources: [AttachmentSource], until end: ContinuousClock.Instant
    ) async -> [NotificationContent.Attachment] {
        let fetchedCount = min(sources.count, configuration.maximumCount)
        var attachments: [NotificationContent.Attachment] = []
        for (index, source) in sources.enumerated() {
            do {
                guard index < fetchedCount else {
                    throw AttachmentError(.tooLarge, "the push names more than \(configuration.maximumCount)")
                }
                let limit = time(before: end, waitingCount: fetchedCount - index - 1)
                guard limit > .zero, !Task.isCancelled else {
                    throw TransferError(.cancelled, "there was no time left for it")
                }
                attachments.append(try await timer.limit(limit) { try await downloader.download(source) })
            } catch {
                onFailure(source.identifier, error)
            }
        }
        return attachments
    }

    /// What the next attachment has of the time that is left.
    private func time(before end: ContinuousClock.Instant, waitingCount: Int) -> Duration {
        let left = now().duration(to: end)
        return left - min(configuration.reservedTime, left / (waitingCount + 1)) * waitingCount
    }
}
