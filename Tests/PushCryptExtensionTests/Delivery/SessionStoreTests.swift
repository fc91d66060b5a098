import PushCryptSender
import PushCryptSimulator
import PushCryptTestSupport
import Testing

/// Sessions with the real store: claims, freshness, counters and receipts. `RelayAttackTests` have replays.
@Suite struct SessionStoreTests {
    private let folder = StoreFolder()
    private var store: SharedStore { folder.first }

    private func show(
        _ payload: [UInt8], key: String = "p256", at time: UnixTime = TestPush.now,
        _ change: (inout ExtensionConfiguration) throws -> Void = { _ in }
    ) async throws -> DeliverySession.Delivery {
        try await deliver(payload, key: key, at: time) { configuration in
            configuration.store = store
            try change(&configuration)
        }
    }

    @Test("a push whose process was killed after the claim is shown after 60 seconds")
    func crashBetweenClaimAndHandler() async throws {
        let payload = try TestPush().sealed()
        let push = try TestPush.open(payload).get()
        #expect(try store.claim(push.name, issuedAt: push.issuedAt, at: TestPush.now))
        #expect(try await show(payload, at: TestPush.now + 59).failure == .replayed)
        #expect(try await show(payload, at: TestPush.now + 60).failure == nil)
        #expect(try await show(payload, at: TestPush.now + 600).failure == .replayed)
    }

    enum End: CaseIterable { case beforeStart, whileOpening, afterClaim }

    @Test("a session that ends before its content is shown leaves no claim", arguments: End.allCases)
    func ended(_ end: End) async throws {
        let payload = try TestPush().sealed()
        let watched = WatchedStore(store)
        let session = try TestSession(payload, waitsForKey: true) { $0.memory = watched }
        watched.whenCalled { [weak session] in if $0 == "claimed" { session?.expire() } }
        if end == .beforeStart { session.expire() }
        session.start()
        if end == .whileOpening {
            await session.asked.wait()
            session.expire()
        }
        session.releaseKeyring()
        #expect(await session.finish().map(\.failure) == [.timedOut])
        #expect(watched.calls.filter { $0 == "claim" } == (end == .afterClaim ? ["claim"] : []))
        #expect(try await show(payload).failure == nil)
        #expect(try await show(payload).failure == .replayed)
    }

    @Test("a push that was shown while a stage was running is replayed the second time")
    func cutShortIsSeen() async throws {
        let (payload, held) = (try TestPush().sealed(), HeldStage())
        let session = try TestSession(payload) { ($0.store, $0.stages) = (store, [held]) }
        await session.start(until: held.begun)
        session.expire()
        _ = await session.finish()
        #expect(try await show(payload, at: TestPush.now + 600).failure == .replayed)
    }

    @Test("a push of 20 days ago is expired even if the clock is set back to its time")
    func clockSetBack() async throws {
        let old = try TestPush(options: Sealer.Options(expiresAfter: .seconds(60))).sealed()
        // One day later the first push is confirmed.
        for day: Int64 in [20, 21] {
            let time = TestPush.now + day * 86_400
            #expect(try await show(TestPush(time: time).sealed(), at: time).failure == nil)
        }
        #expect(try await show(old).failure == .expired)
    }

    @Test("restored pushes, failed pushes, failed stages and self-tests are counted")
    func statistics() async throws {
        _ = try await show(TestPush().sealed())
        for _ in 0..<2 { _ = try await show(TestPush(key: "other p256").sealed()) }
        _ = try await show(TestPush().sealed()) { $0.stages = [TestStage.throwing(CancellationError())] }
        let statistics = try store.statistics()
        #expect(statistics.opened?.count == 2)
        #expect(statistics.failures.mapValues(\.count) == [.unknownKey: 2])
        #expect(statistics.failures[.unknownKey]?.lastKid == (try TestKeys.id("other p256")))
        #expect(statistics.failures[.unknownKey]?.lastTime == TestPush.now)
        #expect(statistics.stageFailures.count == 1)
        #expect(statistics.lastSelfTest == nil)
        #expect(try await show(TestPush(isSelfTest: true).sealed()).isRestored)
        #expect(try store.statistics().lastSelfTest == TestPush.now)
    }

    @Test("a receipt has the push_id of a restored push, the class of a failed one, and replayed for a passive replay")
    func receipts() async throws {
        let transport = RecordingTransport()
        let posting = try ReceiptPosting(to: "https://example.com", transport: transport, timer: ManualTimer())
        let json = #"{"aps":{"alert":"x"},"push_id":"campaign-7"}"#
        let payload = try TestPush(json: json).sealed()
        let foreign = try TestPush(key: "other p256", json: json).sealed()
        for (payload, outcome) in [(payload, "opened"), (payload, "replayed"), (foreign, "unknownKey")] {
            _ = try await show(payload) { ($0.receipts, $0.replays) = (posting, .passive) }
            let body = try #require(await transport.next())
            #expect(body.contains(#""outcome":"\#(outcome)""#))
            #expect(body.contains(#""push":"campaign-7""#) == (outcome != "unknownKey"))
        }
    }

    private struct BrokenStore: DeliveryMemory {
        struct Failure: Error {}

        func claim(_ message: MessageStamp, isReserved: Bool, at time: UnixTime) throws -> ClaimAnswer {
            throw Failure()
        }

        func record(_ record: DeliveryRecord) throws -> RecordAnswer { throw Failure() }
    }

    @Test("if the store throws, pushes are shown, and expired pushes are still refused")
    func storeThatFails() async throws {
        let payload = try TestPush().sealed()
        for _ in 0..<2 { #expect(try await show(payload) { $0.memory = BrokenStore() }.failure == nil) }
        let late = try await show(payload, at: TestPush.now + TestPush.window) { $0.memory = BrokenStore() }
        #expect(late.failure == .expired)
    }

    /// If every call waited, the sessions would time out. The deadline of a minute allows for a busy machine. The long form
    /// waits for the default of 2 seconds.
    @Test("30 concurrent pushes are restored while a process holds the store", arguments: ["folder", "database"])
    func crowd(_ lock: String) async throws {
        try folder.fill()
        var configuration = try ExtensionConfiguration.test(deadline: .seconds(60))
        configuration.store = folder.store { $0.busyTimeout = LongTests.value(.seconds(2), short: .milliseconds(300)) }
        let chosen = configuration
        try await folder.whileHeld(lock) {
            let failures = try await withThrowingTaskGroup(of: FailureClass?.self) { group in
                for _ in 0..<30 {
                    let payload = try TestPush().sealed()
                    group.addTask { await chosen.delivery(of: payload).failure }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(failures.count { $0 == nil } == 30, "\(failures.count { $0 == .timedOut }) timed out")
        }
    }
}
