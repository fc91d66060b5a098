import Dispatch
import Foundation
import PushCryptExtension
import PushCryptSimulator
import PushCryptTestSupport
import Testing

/// Decrypted files of content that isn't shown are removed.
@Suite struct DroppedFilesTests {
    private let folder = TemporaryFolder.make()

    /// Writes a file and attaches it, like a stage that fetches a file. It ignores cancellation.
    private struct FileStage: ContentStage {
        let name: String
        let folder: TemporaryFolder
        var timeLimit: Duration?
        var begun = Signal()
        /// The stage continues when this signal is given.
        var go: Signal?
        var written: DispatchSemaphore?
        var change: @Sendable (inout NotificationContent) -> Void = { _ in }

        func process(_ content: NotificationContent, of push: OpenedPush) async throws -> NotificationContent {
            begun.give()
            if let go { await Task { await go.wait() }.value }
            let file = folder.file(name)
            try Data("secret".utf8).write(to: file)
            written?.signal()
            var content = content
            change(&content)
            content.attachments.append(.init(identifier: name, path: file.path, type: .png))
            return content
        }
    }

    private func session(
        attachments: FileStage?, _ stages: [any ContentStage] = [], key: String = "p256"
    ) throws -> TestSession {
        try TestSession(key: key) { ($0.attachments, $0.stages) = (attachments, stages) }
    }

    private func attachments(_ deliveries: [DeliverySession.Delivery]) -> [[String]] {
        deliveries.map { $0.content.attachments.map(\.identifier) }
    }

    /// The handler lasts until the stage has written its file.
    @Test("a stage that completes while the handler runs leaves no file", arguments: DeadlineTests.End.allCases)
    func duringTheHandler(end: DeadlineTests.End) async throws {
        let (go, written) = (Signal(), DispatchSemaphore(value: 0))
        let stage = FileStage(name: "a", folder: folder, go: go, written: written)
        let session = try session(attachments: stage)
        session.whenDelivered {
            go.give()
            written.wait()
        }
        await session.start(until: stage.begun)
        DispatchQueue(label: "end").async { end.apply(to: session) }
        #expect(attachments(await session.finish()) == [[]])
        #expect(try folder.names().isEmpty)
    }

    @Test("the files of a stage that completes after its time limit are removed, those of other stages are kept")
    func afterTheTimeLimit() async throws {
        let go = Signal()
        let late = FileStage(name: "late", folder: folder, timeLimit: .seconds(3), go: go)
        let session = try session(
            attachments: FileStage(name: "a", folder: folder), [late, FileStage(name: "b", folder: folder)])
        await session.start(until: late.begun)
        session.timer.fire(.seconds(3))
        await session.delivered.wait()
        go.give()
        #expect(attachments(await session.finish()) == [["a", "b"]])
        #expect(try folder.names() == ["a", "b"])
    }

    @Test("files that don't remain in the content after a stage are removed", arguments: [(true, "a"), (false, "b")])
    func changedByAStage(removesText: Bool, left: String) async throws {
        let stage = FileStage(name: "b", folder: folder) { content in
            if removesText { content = NotificationContent() } else { content.attachments = [] }
        }
        let session = try session(attachments: FileStage(name: "a", folder: folder), [stage])
        #expect(attachments(await session.run()) == [[left]])
        #expect(try folder.names() == [left])
    }

    @Test("a stage is cancelled before the handler is called, and a blocking cancellation doesn't delay the handler")
    func cancelledFirst() async throws {
        let (begun, ended) = (Signal(), Signal())
        let (cancelled, goOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let stage = TestStage { _ in
            begun.give()
            await withTaskCancellationHandler {
                await Task { await ended.wait() }.value
            } onCancel: {
                cancelled.signal()
                goOn.wait()
                ended.give()
            }
        }
        let session = try TestSession { $0.stages = [stage] }
        // The handler waits for the cancellation, and the cancellation for the end of the handler.
        session.whenDelivered { cancelled.wait() }
        await session.start(until: begun)
        session.expire()
        goOn.signal()
        #expect(await session.finish().count == 1)
    }

    /// Run this test with the thread sanitizer too. The long form has 400 races, the short form 100.
    @Test("no file is left in races between the end of a stage and the deadline unless it was handed over")
    func race() async throws {
        var random = SplitMix64(seed: 5)
        var shownCount = 0
        let rounds = LongTests.value(400, short: 100)
        for round in 0..<rounds {
            let go = Signal()
            let stage = FileStage(name: "\(round)", folder: folder, go: go)
            let session = try session(attachments: stage, key: "shared")
            await session.start(until: stage.begun)
            // The stage needs some time to write its file.
            let delay = Int.random(in: 0..<60_000, using: &random)
            switch round {
            // Each outcome once, without a race: on a busy machine one side may win every race.
            case 0:
                session.expire()
                go.give()
            case 1: go.give()
            default:
                DispatchQueue.concurrentPerform(iterations: 2) { part in
                    guard part == 1 else { return go.give() }
                    Idling.idle(delay, seed: UInt64(round))
                    session.expire()
                }
            }
            let shown = attachments(await session.finish()).flatMap { $0 }
            #expect(try folder.names() == shown)
            for name in shown { try FileManager.default.removeItem(at: folder.file(name)) }
            shownCount += shown.count
        }
        // Both outcomes must occur.
        #expect(shownCount > 0 && shownCount < rounds, "\(shownCount) shown")
    }
}
