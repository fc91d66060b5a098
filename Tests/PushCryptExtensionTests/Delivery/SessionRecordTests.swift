import Dispatch
import PushCryptPrimitives
import PushCryptSimulator
import PushCryptTestSupport
import Testing

@testable import PushCryptExtension

/// What a session writes to its store, and when.
@Suite struct SessionRecordTests {
    private let folder: StoreFolder
    private let store: WatchedStore

    init() throws {
        folder = StoreFolder()
        store = WatchedStore(folder.store())
    }

    /// A session whose calls of the store, of the handler and of the system are noted.
    ///
    /// - Parameter inHandler: what it returns of the store of another process is noted with the handler.
    private func session(
        _ payload: [UInt8]? = nil, changing change: (inout ExtensionConfiguration) throws -> Void = { _ in },
        inHandler: (@Sendable (SharedStore) throws -> String)? = nil
    ) throws -> TestSession {
        let log = store.log
        let session = try TestSession(payload) { configuration in
            configuration.memory = store
            configuration.keepRunning = ProcessActivity { _ in
                log.withLock { $0.append("activity") }
                return { log.withLock { $0.append("activity ended") } }
            }
            try change(&configuration)
        }
        session.whenDelivered { [folder] in
            let found = inHandler.map { ": " + ((try? $0(folder.store())) ?? "an error") } ?? ""
            log.withLock { $0.append("handler" + found) }
        }
        return session
    }

    @Test("before the handler is called, the message is seen and counted, and afterwards the store isn't used")
    func recordedBeforeTheHandler() async throws {
        let payload = try TestPush().sealed()
        let push = try TestPush.open(payload).get()
        let session = try session(
            payload,
            inHandler: { other in
                let isGranted = try other.claim(push.name, issuedAt: push.issuedAt, at: TestPush.now + 600)
                return "\(isGranted) \(try other.statistics().opened?.count ?? 0)"
            })
        _ = await session.run()
        #expect(store.calls == ["claim", "claimed", "record shown", "recorded", "handler: false 1"])
    }

    @Test(
        "before the handler is called, the receipt is stored in the transaction of the record",
        arguments: [("p256", ["claim", "claimed", "record shown"]), ("other p256", ["record"])])
    func receiptBeforeTheHandler(key: String, calls: [String]) async throws {
        let receipts = try ReceiptPosting(to: "https://example.com", transport: StuckTransport(), timer: ManualTimer())
        let session = try session(
            TestPush(key: key).sealed(), changing: { $0.receipts = receipts }, inHandler: { "\(try $0.receiptCount())" }
        )
        _ = await session.run()
        #expect(store.calls.filter { !$0.hasPrefix("activity") } == calls + ["recorded", "handler: 1"])
    }

    @Test("before the handler is called with a placeholder, the failure is counted and the claim is released")
    func releasedBeforeTheHandler() async throws {
        let payload = try TestPush(json: #"{"aps":{"alert":{"loc-key":"EMPTY"}}}"#).sealed()
        let push = try TestPush.open(payload).get()
        let session = try session(
            payload, changing: { $0.strings = ["EMPTY": ""] },
            inHandler: { other in
                let isGranted = try other.claim(push.name, issuedAt: push.issuedAt, at: TestPush.now)
                return "\(isGranted) \(try other.statistics().failures.mapValues(\.count) == [.malformed: 1])"
            })
        _ = await session.run()
        #expect(store.calls == ["claim", "claimed", "record", "recorded", "handler: true true"])
    }

    private func hold(_ call: String) -> (begun: Signal, gate: DispatchSemaphore) {
        let (begun, gate) = (Signal(), DispatchSemaphore(value: 0))
        store.whenCalled { called in
            guard called == call else { return }
            begun.give()
            gate.wait()
        }
        return (begun, gate)
    }

    @Test("a write that takes longer than 150 ms continues after the handler, and the process is kept running for it")
    func slowStore() async throws {
        let (begun, gate) = hold("record shown")
        let payload = try TestPush().sealed()
        let session = try session(payload)
        await session.start(until: begun)
        #expect(session.deliveries.isEmpty)
        session.timer.fire(.milliseconds(150))
        await session.delivered.wait()
        #expect(session.deliveries.map(\.failure) == [nil])
        #expect(store.calls == ["claim", "claimed", "record shown", "activity", "handler"])
        gate.signal()
        _ = await session.finish()
        #expect(store.calls.suffix(2) == ["recorded", "activity ended"])
        #expect(try await self.session(payload).run().map(\.failure) == [.replayed])
    }

    @Test("a store that stands still delays opening by 150 ms only", arguments: ["highestIssuedAt", "claim"])
    func stuckStore(_ call: String) async throws {
        let (begun, gate) = hold(call)
        let timer = ManualTimer()
        let payload = try TestPush(signer: "sender").sealed()
        var configuration = try ExtensionConfiguration.test(senders: .pinned(TestKeys.trusted(["sender"])))
        configuration.timer = timer
        configuration.memory = store
        let stuck = configuration
        async let first = stuck.delivery(of: payload)
        await begun.wait()
        timer.fire(.milliseconds(150))
        #expect(await first.failure == nil)
        // A second copy isn't shown, neither in this process nor in the next one.
        for _ in 0..<4 { gate.signal() }
        configuration.timer = ManualTimer()
        #expect(await configuration.delivery(of: payload).failure == .replayed)
        configuration.memory = folder.store()
        configuration.clock = { TestPush.now + 600 }
        #expect(await configuration.delivery(of: payload).failure == .replayed)
    }

    @Test("the end of the time in which the system waits doesn't wait for a slow store")
    func expiryWithASlowStore() async throws {
        let ((begun, gate), held) = (hold("record shown"), HeldStage())
        let session = try session(changing: { $0.stages = [held] })
        await session.start(until: held.begun)
        session.expire()
        await begun.wait()
        session.timer.fire(.milliseconds(150))
        await session.delivered.wait()
        gate.signal()
        #expect(await session.finish().map(\.isRestored) == [true])
    }

    @Test("a session that ends during its claim keeps the process running until the claim is released")
    func expiryDuringTheClaim() async throws {
        let session = try session()
        store.whenCalled { [weak session] call in
            guard call == "claim" else { return }
            session?.expire()
            while session != nil, !store.calls.contains("handler") { usleep(500) }
        }
        _ = await session.run()
        // The placeholder is recorded, then the claim is released.
        let placeholder = ["record", "recorded", "activity", "handler"]
        #expect(store.calls == ["claim"] + placeholder + ["claimed", "record", "recorded", "activity ended"])
    }

    @Test("the report has the time of the push and of each step, by a clock of its own")
    func durations() async throws {
        let (clock, reporter) = (Locked(ContinuousClock.now), RecordingReporter())
        let slow = TestStage(name: "slow") { _ in
            clock.withLock { $0 += .seconds(3) }
            throw CancellationError()
        }
        _ = try await deliver(TestPush().sealed(), reporter: reporter) {
            $0.stopwatch = { clock.withLock { $0 } }
            $0.stages = [slow]
        }
        let report = try #require(reporter.reports.first)
        #expect(report.duration == .seconds(3))
        #expect(report.durations.map(\.name) == ["open", "slow", "store"])
        #expect(report.durations.map(\.duration) == [.zero, .seconds(3), .zero])
        #expect(DeliveryLog.line(report) == "opened in 3000 ms: open 0 ms, slow 3000 ms failed, store 0 ms")
    }

    private func line(_ report: DeliveryReport) -> String {
        let lines = Locked<[String]>([])
        DeliveryLog { line in lines.withLock { $0.append(line) } }.report(report)
        return lines.withLock { $0 }.joined(separator: "\n")
    }

    @Test("a line of the log has the failure class and the durations, and no id, key or content")
    func lines() throws {
        var report = DeliveryReport.sample(
            .undecryptable, "0123456789012345678901", pushID: "campaign", kid: try TestKeys.id("p256"))
        report.duration = .microseconds(3_900)
        report.durations = [.init(name: "open", duration: .microseconds(2_100)), .init(name: "store", duration: .zero)]
        #expect(line(report) == "undecryptable in 3 ms: open 2 ms, store 0 ms")
        report = .sample(.attachmentFailed, stageFailures: [StageFailure(stage: "attachments", ending: .timedOut)])
        report.durations = [.init(name: "attachments", duration: .seconds(8))]
        #expect(line(report) == "attachmentFailed, text opened, in 0 ms: attachments 8000 ms timedOut")
    }
}
