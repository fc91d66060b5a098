import Dispatch
import PushCryptPrimitives
import PushCryptSimulator
import PushCryptTestSupport
import Testing

@testable import PushCryptExtension

/// What a session writes to its store, and when.
@Suite struct SessionRecordTests {
    private let folder: StoreFolder

    init() throws {
        folder = try StoreFolder()
    }

    /// A store that notes its calls, and whose calls wait for the test if `gate` is given.
    private final class NotingStore: DeliveryMemory {
        let store: SharedStore
        let log: Locked<[String]>
        let begun = Signal()
        private let gate: DispatchSemaphore?

        init(_ store: SharedStore, _ log: Locked<[String]>, gate: DispatchSemaphore? = nil) {
            (self.store, self.log, self.gate) = (store, log, gate)
        }

        func highestIssuedAt(at time: UnixTime) throws -> UnixTime? { try store.highestIssuedAt(at: time) }

        func reserve(_ message: MessageStamp, at time: UnixTime) -> Bool { store.reserve(message, at: time) }

        func claim(_ message: MessageStamp, isReserved: Bool, at time: UnixTime) throws -> ClaimAnswer {
            log.withLock { $0.append("claim") }
            return try store.claim(message, isReserved: isReserved, at: time)
        }

        func record(_ record: DeliveryRecord) throws -> RecordAnswer {
            log.withLock { $0.append(record.isShown ? "record shown" : "record") }
            begun.give()
            gate?.wait()
            defer { log.withLock { $0.append("recorded") } }
            return try store.record(record)
        }
    }

    private func session(
        _ payload: [UInt8], _ store: NotingStore, _ timer: ManualTimer = ManualTimer(),
        _ change: (inout ExtensionConfiguration) -> Void = { _ in }
    ) throws -> TestSession {
        var configuration = try ExtensionConfiguration.test()
        configuration.memory = store
        configuration.keepRunning = ProcessActivity { [log = store.log] _ in
            log.withLock { $0.append("activity") }
            return { log.withLock { $0.append("activity ended") } }
        }
        change(&configuration)
        let session = try TestSession(payload: payload, timer: timer, configuration: configuration)
        session.whenDelivered { [log = store.log] in log.withLock { $0.append("handler") } }
        session.releaseKeyring()
        return session
    }

    @Test("before the handler is called, the message is seen and counted, and afterwards the store isn't used")
    func recordedBeforeTheHandler() async throws {
        let log = Locked<[String]>([])
        let payload = try TestPush().sealed()
        let push = try TestPush.open(payload).get()
        let session = try session(payload, NotingStore(folder.store(), log))
        session.whenDelivered { [folder] in
            // Another process, in the handler.
            let other = folder.store()
            let isGranted = try? other.claim(push.name, issuedAt: push.issuedAt, at: TestPush.now + 600)
            let count = try? other.statistics().opened?.count
            log.withLock { $0.append("handler: \(isGranted == false) \(count ?? 0)") }
        }
        session.start()
        _ = await session.finish()
        #expect(log.withLock { $0 } == ["claim", "record shown", "recorded", "handler: true 1"])
    }

    @Test(
        "before the handler is called, the receipt is stored in the transaction of the record",
        arguments: ["p256", "other p256"])
    func receiptBeforeTheHandler(key: String) async throws {
        let log = Locked<[String]>([])
        let transport = StuckTransport()
        let session = try session(TestPush(key: key).sealed(), NotingStore(folder.store(), log)) {
            $0.receipts = try? ReceiptPosting(to: "https://example.com", transport: transport, timer: ManualTimer())
        }
        session.whenDelivered { [folder] in
            let count = try? folder.store(.app).receiptCount()
            log.withLock { $0.append("handler: \(count ?? 0)") }
        }
        session.start()
        _ = await session.finish()
        let calls = log.withLock { $0 }.filter { !$0.hasPrefix("activity") }
        #expect(calls == (key == "p256" ? ["claim", "record shown"] : ["record"]) + ["recorded", "handler: 1"])
    }

    @Test("before the handler is called with a placeholder, the failure is counted and the claim is released")
    func releasedBeforeTheHandler() async throws {
        let log = Locked<[String]>([])
        let payload = try TestPush(json: #"{"aps":{"alert":{"loc-key":"EMPTY"}}}"#).sealed()
        let push = try TestPush.open(payload).get()
        let session = try session(payload, NotingStore(folder.store(), log)) { $0.strings = ["EMPTY": ""] }
        session.whenDelivered { [folder] in
            let other = folder.store()
            let isGranted = try? other.claim(push.name, issuedAt: push.issuedAt, at: TestPush.now)
            let failures = try? other.statistics().failures.mapValues(\.count)
            log.withLock { $0.append("handler: \(isGranted == true) \(failures == [.malformed: 1])") }
        }
        session.start()
        _ = await session.finish()
        #expect(log.withLock { $0 } == ["claim", "record", "recorded", "handler: true true"])
    }

    @Test("a write that takes longer than 150 ms continues after the handler, and the process is kept running for it")
    func slowStore() async throws {
        let (log, timer, gate) = (Locked<[String]>([]), ManualTimer(), DispatchSemaphore(value: 0))
        let store = NotingStore(folder.store(), log, gate: gate)
        let payload = try TestPush().sealed()
        let session = try session(payload, store, timer)
        session.start()
        await store.begun.wait()
        #expect(session.deliveries.isEmpty)
        timer.fire(.milliseconds(150))
        await session.delivered.wait()
        #expect(session.deliveries.map(\.failure) == [nil])
        #expect(log.withLock { $0 } == ["claim", "record shown", "activity", "handler"])
        gate.signal()
        _ = await session.finish()
        #expect(log.withLock { $0 }.suffix(2) == ["recorded", "activity ended"])
        let again = try self.session(payload, NotingStore(folder.store(), log))
        again.start()
        #expect(await again.finish().map(\.failure) == [.replayed])
    }

    /// Whose call stands still.
    enum StuckCall: CaseIterable {
        case highestIssuedAt, claim
    }

    /// A store whose first call doesn't return until the test lets it.
    private final class StuckStore: DeliveryMemory {
        let stuck: StuckCall
        let store: SharedStore
        let begun = Signal()
        let gate = DispatchSemaphore(value: 0)

        init(_ stuck: StuckCall, _ store: SharedStore) { (self.stuck, self.store) = (stuck, store) }

        func highestIssuedAt(at time: UnixTime) throws -> UnixTime? {
            if stuck == .highestIssuedAt { wait() }
            return try store.highestIssuedAt(at: time)
        }

        func reserve(_ message: MessageStamp, at time: UnixTime) -> Bool { store.reserve(message, at: time) }

        func claim(_ message: MessageStamp, isReserved: Bool, at time: UnixTime) throws -> ClaimAnswer {
            if stuck == .claim { wait() }
            return try store.claim(message, isReserved: isReserved, at: time)
        }

        func record(_ record: DeliveryRecord) throws -> RecordAnswer {
            try store.record(record)
        }

        private func wait() {
            begun.give()
            gate.wait()
        }
    }

    @Test(
        "a store that stands still delays opening by 150 ms only, and the message is shown once",
        arguments: StuckCall.allCases)
    func stuckStore(_ call: StuckCall) async throws {
        let (timer, store) = (ManualTimer(), StuckStore(call, folder.store()))
        let payload = try TestPush(signer: "sender").sealed()
        var configuration = try ExtensionConfiguration.test()
        configuration.opener = try Opener(
            topic: TestPush.topic, keyring: KeysetKeyring(TestKeys.keyset("p256")),
            senders: .pinned(TestKeys.trusted(["sender"])))
        configuration.timer = timer
        configuration.memory = store
        let stuck = configuration
        async let first = stuck.delivery(of: payload)
        await store.begun.wait()
        timer.fire(.milliseconds(150))
        #expect(await first.failure == nil)
        // A second copy isn't shown, neither in this process nor in the next one.
        for _ in 0..<4 { store.gate.signal() }
        configuration.timer = ManualTimer()
        #expect(await configuration.delivery(of: payload).failure == .replayed)
        configuration.memory = folder.store()
        configuration.clock = { TestPush.now + 600 }
        #expect(await configuration.delivery(of: payload).failure == .replayed)
    }

    @Test("the end of the time in which the system waits doesn't wait for a slow store")
    func expiryWithASlowStore() async throws {
        let (log, timer, gate) = (Locked<[String]>([]), ManualTimer(), DispatchSemaphore(value: 0))
        let (store, held) = (NotingStore(folder.store(), log, gate: gate), HeldStage(.cancellable))
        let session = try session(TestPush().sealed(), store, timer) { $0.stages = [held] }
        session.start()
        await held.begun.wait()
        session.expire()
        await store.begun.wait()
        timer.fire(.milliseconds(150))
        await session.delivered.wait()
        gate.signal()
        #expect(await session.finish().map(\.isRestored) == [true])
    }

    @Test("a session that ends during its claim keeps the process running until the claim is released")
    func expiryDuringTheClaim() async throws {
        final class EndingStore: DeliveryMemory {
            let inner: NotingStore
            let end = Locked<(@Sendable () -> Void)?>(nil)

            init(_ inner: NotingStore) { self.inner = inner }

            func reserve(_ message: MessageStamp, at time: UnixTime) -> Bool { inner.reserve(message, at: time) }

            func claim(_ message: MessageStamp, isReserved: Bool, at time: UnixTime) throws -> ClaimAnswer {
                end.withLock { $0 }?()
                return try inner.claim(message, isReserved: isReserved, at: time)
            }

            func record(_ record: DeliveryRecord) throws -> RecordAnswer {
                // The placeholder's own record, of a push without a claim, isn't of interest here.
                record.claim == nil ? RecordAnswer() : try inner.record(record)
            }
        }
        let log = Locked<[String]>([])
        let ending = EndingStore(NotingStore(folder.store(), log))
        let session = try session(TestPush().sealed(), ending.inner) { $0.memory = ending }
        ending.end.withLock { end in
            end = { [weak session] in
                session?.expire()
                while session?.deliveries.isEmpty == true { usleep(500) }
            }
        }
        session.start()
        _ = await session.finish()
        #expect(log.withLock { $0 } == ["activity", "handler", "claim", "record", "recorded", "activity ended"])
    }

    @Test("the report has the time of the push and of each step, by a clock of its own")
    func durations() async throws {
        let (clock, reporter) = (Locked(ContinuousClock.now), RecordingReporter())
        struct Slow: ContentStage {
            let clock: Locked<ContinuousClock.Instant>
            let name = "slow"

            func process(_ content: NotificationContent, of push: OpenedPush) async throws -> NotificationContent {
                clock.withLock { $0 += .seconds(3) }
                throw CancellationError()
            }
        }
        var configuration = try ExtensionConfiguration.test()
        configuration.stopwatch = { clock.withLock { $0 } }
        configuration.stages = [Slow(clock: clock)]
        configuration.diagnostics = reporter
        let session = try TestSession(payload: TestPush().sealed(), configuration: configuration)
        session.releaseKeyring()
        session.start()
        _ = await session.finish()
        let report = try #require(reporter.reports.first)
        #expect(report.duration == .seconds(3))
        #expect(report.durations.map(\.name) == ["open", "slow", "store"])
        #expect(report.durations.map(\.duration) == [.zero, .seconds(3), .zero])
        #expect(DeliveryLog.line(report) == "opened in 3000 ms: open 0 ms, slow 3000 ms failed, store 0 ms")
    }
}

@Suite struct DeliveryLogTests {
    private func line(_ report: DeliveryReport) -> String {
        let lines = Locked<[String]>([])
        DeliveryLog { line in lines.withLock { $0.append(line) } }.report(report)
        return lines.withLock { $0 }.joined(separator: "\n")
    }

    @Test("a line has the failure class and the durations, and no id, key or content")
    func lines() throws {
        var report = DeliveryReport.sample(
            .undecryptable, "0123456789012345678901", pushID: "campaign", kid: try TestKeys.id("p256"))
        report.duration = .microseconds(3_900)
        report.durations = [.init(name: "open", duration: .microseconds(2_100)), .init(name: "store", duration: .zero)]
        #expect(line(report) == "undecryptable in 3 ms: open 2 ms, store 0 ms")
        report = .sample(
            .attachmentFailed, stageFailures: [StageFailure(stage: "attachments", ending: .timedOut)])
        report.durations = [.init(name: "attachments", duration: .seconds(8))]
        #expect(line(report) == "attachmentFailed, text opened, in 0 ms: attachments 8000 ms timedOut")
    }
}
