import Dispatch
import Foundation
import PushCryptSimulator
import PushCryptTestSupport
import Testing

enum Idling {
    static func idle(_ steps: Int, seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var sum: UInt64 = 0
        for _ in 0..<steps { sum &+= random.next() }
        withExtendedLifetime(sum) {}
    }
}

/// Sessions that start, get their keys, run stages and end at the same time on several threads. Run this suite with the
/// thread sanitizer too (`swift test --sanitize=thread`).
@Suite struct RaceTests {
    /// Keeps its thread busy for a random time, and then ends in a random way.
    private struct ChanceStage: ContentStage {
        let seed: UInt64
        var timeLimit: Duration? { seed.isMultiple(of: 3) ? .seconds(2) : nil }

        func process(_ content: NotificationContent, of push: OpenedPush) async throws -> NotificationContent {
            var random = SplitMix64(seed: seed)
            for _ in 0..<Int.random(in: 0..<4, using: &random) {
                Idling.idle(Int.random(in: 0..<300, using: &random), seed: random.next())
                await Task.yield()
            }
            switch Int.random(in: 0..<5, using: &random) {
            case 0: throw TestStage.Failure()
            case 1: try Task.checkCancellation()
            case 2: return NotificationContent()
            default: break
            }
            return try await TestStage.suffix("+").process(content, of: push)
        }
    }

    private static func session(_ random: inout SplitMix64, _ payload: [UInt8]) throws -> TestSession {
        let stages = (0..<Int.random(in: 0..<4, using: &random)).map { _ in ChanceStage(seed: random.next()) }
        let attachments = Bool.random(using: &random) ? ChanceStage(seed: random.next()) : nil
        return try TestSession(payload, key: "shared") { ($0.stages, $0.attachments) = (stages, attachments) }
    }

    @Test("each of 1,000 sessions (10,000 in the long form) with racing stages and deadlines calls its handler once")
    func racingSessions() async throws {
        let sessionCount = LongTests.value(10_000, short: 1_000)
        var random = SplitMix64(seed: 4)
        let payload = try TestPush(key: "shared").sealed()
        var (callCount, timedOutCount, restoredCount) = (0, 0, 0)
        for _ in 0..<sessionCount {
            let session = try Self.session(&random, payload)
            // In one of four sessions only the stages end the session.
            let ends = Int.random(in: 0..<4, using: &random)
            let seeds = [random.next(), random.next(), random.next()]
            DispatchQueue.concurrentPerform(iterations: 3) { part in
                var random = SplitMix64(seed: seeds[part])
                Idling.idle(Int.random(in: 0..<3_000, using: &random), seed: random.next())
                switch part {
                case 0: session.start()
                case 1: if ends != 0 { session.expire() }
                default:
                    session.timer.fire(.seconds(2))
                    if ends == 2 { session.timer.fire(.seconds(25)) }
                }
            }
            let deliveries = await session.finish()
            callCount += deliveries.count
            timedOutCount += deliveries.count { $0.failure == .timedOut }
            restoredCount += deliveries.count { $0.isRestored }
            #expect(deliveries.allSatisfy { $0.content.hasText })
        }
        #expect(callCount == sessionCount)
        // Both outcomes must occur often; otherwise the test covers little.
        let limit = sessionCount / 20
        #expect(timedOutCount > limit && restoredCount > limit, "\(timedOutCount) timed out, \(restoredCount) restored")
    }

    private enum Event: CaseIterable {
        case start, expire, fire, releaseKeyring

        func happen(to session: TestSession) {
            switch self {
            case .start: session.start()
            case .expire: session.expire()
            case .fire: session.timer.fire()
            case .releaseKeyring: session.releaseKeyring()
            }
        }
    }

    /// Distributes the events in random order over three threads, each of which begins after a delay.
    private static func parts(_ random: inout SplitMix64) -> [(delay: Int, events: [Event])] {
        var parts = (0..<3).map { _ in (delay: Int.random(in: 0..<400, using: &random), events: [Event]()) }
        var events = Event.allCases.shuffled(using: &random)
        // In a third of the sessions only the key ends the session; in another third the timer doesn't fire.
        switch Int.random(in: 0..<3, using: &random) {
        case 0: events.removeAll { $0 == .expire || $0 == .fire }
        case 1: events.removeAll { $0 == .fire }
        default: break
        }
        for event in events { parts[Int.random(in: 0..<3, using: &random)].events.append(event) }
        return parts
    }

    @Test("sessions that start, end and get their keys on three threads at once each call their handler once")
    func interleavedSessions() async throws {
        let sessionCount = LongTests.value(1_000, short: 300)
        var random = SplitMix64(seed: 11)
        let payload = try TestPush(key: "shared").sealed()
        let restored = try TestPush.open(payload, key: "shared").get().content
        let placeholder = Fallback.outerAlert(orElse: .standard).content(for: payload, .timedOut)
        var count = 0
        for seed in 0..<sessionCount {
            let parts = Self.parts(&random)
            let session = try TestSession(payload, key: "shared", waitsForKey: true)
            DispatchQueue.concurrentPerform(iterations: parts.count) { index in
                Idling.idle(parts[index].delay, seed: UInt64(seed))
                for event in parts[index].events { event.happen(to: session) }
            }
            let deliveries = await session.finish()
            count += deliveries.count
            for delivery in deliveries {
                #expect(delivery.content == (delivery.failure == nil ? restored : placeholder))
                #expect(delivery.failure == nil || delivery.failure == .timedOut)
            }
            #expect(session.timer.cancelCount == session.timer.durations.count, "session \(seed)")
            #expect(!session.timer.isPending, "session \(seed)")
        }
        #expect(count == sessionCount)
    }
}

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
