import PushCryptCore

/// Fetches the attachments of a push, one after the other: encrypted blobs that the message names, and unencrypted files by
/// address. Attachments that can't be fetched are counted as missing.
public struct AttachmentStage: ContentStage {
    /// The folder of the attachments, and the limits of number and time.
    public struct Configuration: Sendable {
        /// The folder that files are written to. It is created if its parent exists. Use it for nothing else: the stage
        /// removes the files of killed processes from it.
        public var folder: String
        /// Members of the sealed payload that contain the address of a file, such as `image_url` or `aps.alert.image`.
        /// These files aren't encrypted: the server can read and change them, and anyone with the address can read them.
        public var plainMembers: [String]
        /// How many attachments are fetched at most; the others are missing.
        public var maximumCount: Int
        /// The limit for all attachments together. Attachments that are complete one second before it ends are shown.
        public var timeLimit: Duration
        /// The time reserved for each attachment that is still waiting, so that a slow server can't use up the time of the
        /// others. If less time is left, the attachments share it equally.
        public var reservedTime: Duration

        /// Creates a configuration; only the folder has no default.
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
    /// Ends a download at its time limit; tests replace it.
    package var timer: any DeadlineTimer
    /// Measures the time that is left; tests replace it.
    package var now: @Sendable () -> ContinuousClock.Instant = { .now }
    private let onFailure: @Sendable (_ identifier: String, any Error) -> Void

    /// Creates a stage.
    ///
    /// - Parameter onFailure: called for each attachment that couldn't be fetched, with its `id` and usually a `TransferError`.
    public init(
        configuration: Configuration, transport: any HTTPTransport, timer: any DeadlineTimer = ThreadTimer(),
        onFailure: @escaping @Sendable (_ identifier: String, any Error) -> Void = { _, _ in }
    ) {
        self.configuration = configuration
        self.timer = timer
        self.onFailure = onFailure
        downloader = AttachmentDownloader(transport: transport, folder: AttachmentFolder(path: configuration.folder))
    }

    /// The configured time limit.
    public var timeLimit: Duration? { configuration.timeLimit }

    /// Adds the attachments of the push that can be fetched, and counts the others as missing.
    ///
    /// - Throws: `CancellationError` if the task was cancelled; no file is left.
    public func process(_ content: NotificationContent, of push: OpenedPush) async throws -> NotificationContent {
        // The downloads end before the session cancels the stage, because the session drops the result of a cancelled stage.
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
                    throw TransferError(.tooLarge, "the push names more than \(configuration.maximumCount) attachments")
                }
                let limit = time(before: end, waitingCount: fetchedCount - index - 1)
                guard limit > .zero, !Task.isCancelled else {
                    throw TransferError(.cancelled, "no time was left for the attachment")
                }
                attachments.append(try await timer.limit(limit) { try await downloader.download(source) })
            } catch {
                onFailure(source.identifier, error)
            }
        }
        return attachments
    }

    /// The time limit of the next attachment.
    private func time(before end: ContinuousClock.Instant, waitingCount: Int) -> Duration {
        let left = now().duration(to: end)
        return left - min(configuration.reservedTime, left / (waitingCount + 1)) * waitingCount
    }
}
