import PushCryptCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Fetches what is shown with the text: the encrypted blobs that the message names, and plain files by address. They
/// come one after the other; what can't be had is counted, and the others are shown all the same.
public struct AttachmentStage: ContentStage {
    public struct Configuration: Sendable {
        /// Where files are written, made in its parent where there is none. It belongs to the stage: what is older than an
        /// hour there is a leftover of a process that was killed.
        public var folder: String
        /// Members of the sealed payload that hold the address of a file, as `image_url` or `aps.alert.image`. The file
        /// isn't encrypted: its server, and whoever has its address, can see it and can change it.
        public var plainMembers: [String]
        /// How many attachments are fetched; those beyond are missing.
        public var maximumCount: Int
        /// For all of them, out of the session's time. What is complete a second before its end is shown.
        public var timeLimit: Duration

        public init(
            folder: String, plainMembers: [String] = [], maximumCount: Int = AttachmentReference.maximumCount,
            timeLimit: Duration = .seconds(15)
        ) {
            self.folder = folder
            self.plainMembers = plainMembers
            self.maximumCount = maximumCount
            self.timeLimit = timeLimit
        }
    }

    public let name = "attachments"
    private let configuration: Configuration
    private let downloader: AttachmentDownloader
    private let timer: any DeadlineTimer
    private let onFailure: @Sendable (_ identifier: String, any Error) -> Void

    /// - Parameters:
    ///   - timer: runs the time limit.
    ///   - onFailure: told of each attachment that couldn't be had, with its `id`, and why: `AttachmentError` or
    ///     `TransferError`.
    public init(
        configuration: Configuration, transport: any HTTPTransport, timer: any DeadlineTimer = ThreadTimer(),
        onFailure: @escaping @Sendable (_ identifier: String, any Error) -> Void = { _, _ in }
    ) {
        self.configuration = configuration
        self.timer = timer
        self.onFailure = onFailure
        downloader = AttachmentDownloader(
            transport: transport, folder: AttachmentFolder(path: configuration.folder))
    }

    public var timeLimit: Duration? { configuration.timeLimit }

    public func process(
        _ content: NotificationContent, of push: OpenedPush
    ) async throws -> NotificationContent {
        downloader.folder.removeLeftovers(at: UnixTime(Int64(Date().timeIntervalSince1970)))
        let sources = AttachmentSource.all(of: push, members: configuration.plainMembers)
        guard !sources.isEmpty else { return content }
        let attachments = await attachments(from: sources)
        guard !Task.isCancelled else {
            for attachment in attachments { unsafe unlink(attachment.path) }
            throw CancellationError()
        }
        var content = content
        content.attachments += attachments
        content.missingAttachmentCount += sources.count - attachments.count
        return content
    }

    /// Ends at once when the task is cancelled, and before the session would do so: it uses nothing of a stage that it
    /// had to cancel.
    private func attachments(from sources: [AttachmentSource]) async -> [NotificationContent.Attachment] {
        let work = Task { await downloadAll(sources) }
        let giveUp = timer.schedule(after: max(configuration.timeLimit - .seconds(1), .zero)) { work.cancel() }
        defer { giveUp() }
        return await withTaskCancellationHandler {
            await work.value
        } onCancel: {
            work.cancel()
        }
    }

    private func downloadAll(_ sources: [AttachmentSource]) async -> [NotificationContent.Attachment] {
        var attachments: [NotificationContent.Attachment] = []
        for (index, source) in sources.enumerated() {
            do {
                guard index < configuration.maximumCount else {
                    throw AttachmentError(.tooLarge, "the push names more than \(configuration.maximumCount)")
                }
                guard !Task.isCancelled else { throw TransferError(.cancelled, "there was no time left for it") }
                attachments.append(try await downloader.download(source))
            } catch {
                onFailure(source.identifier, error)
            }
        }
        return attachments
    }
}
