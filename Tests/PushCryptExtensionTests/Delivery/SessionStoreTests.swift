import PushCryptExtension
import PushCryptPrimitives
import PushCryptSender
import PushCryptSimulator
import PushCryptTestSupport
import Testing

/// Sessions with the real store: replays, freshness, counters and receipts.
@Suite struct SessionStoreTests {
    private let folder: StoreFolder
    private let store: SharedStore

    init() throws {
        folder = try StoreFolder()
        store = folder.store()
    }

    private func session(
        _ payload: [UInt8], key: String = "p256", at time: UnixTime = TestPush.now,
        _ change: (inout ExtensionConfiguration) -> Void = { _ in }
    ) throws -> TestSession {
        var configuration = try ExtensionConfiguration.test()
        configuration.store = store
        change(&configuration)
        let session = try TestSession(payload: payload, key: key, configuration: configuration, at: time)
        session.releaseKeyring()
        return session
    }

    private func deliver(
        _ payload: [UInt8], key: String = "p256", at time: UnixTime = TestPush.now,
        _ change: (inout ExtensionConfiguration) -> Void = { _ in }
    ) async throws -> DeliverySession.Delivery {
        let session = try session(payload, key: key, at: time, change)
        session.start()
        return try #require(await session.finish().first)
    }

    @Test("a replayed push shows the placeholder by default")
    func replayIsAPlaceholder() async throws {
        let payload = try TestPush().sealed()
        #expect(try await deliver(payload).failure == nil)
        let again = try await deliver(payload)
        #expect(again.failure == .replayed)
        #expect(!again.isRestored)
        #expect(again.content.title.literal == "New message")
        #expect(try await deliver(TestPush().sealed()).failure == nil)
    }

    @Test("a replayed push can be shown passively, without sound and stages")
    func replayIsPassive() async throws {
        let payload = try TestPush(json: #"{"aps":{"alert":"x","sound":"s","interruption-level":"critical"}}"#).sealed()
        _ = try await deliver(payload)
        let again = try await deliver(payload) { configuration in
            configuration.replays = .passive
            configuration.stages = [SuffixStage(suffix: "!")]
        }
        #expect(again.failure == .replayed)
        #expect(again.isRestored)
        #expect(again.content.body.literal == "x")
        #expect(again.content.title.literal == nil)
        #expect(again.content.sound == nil)
        #expect(again.content.interruptionLevel == "passive")
    }

    @Test("a push whose process was killed after the claim is shown after 60 seconds")
    func crashBetweenClaimAndHandler() async throws {
        let payload = try TestPush().sealed()
        let push = try TestPush.open(payload).get()
        #expect(try store.claim(push.name, issuedAt: push.issuedAt, at: TestPush.now))
        #expect(try await deliver(payload, at: TestPush.now + 59).failure == .replayed)
        #expect(try await deliver(payload, at: TestPush.now + 60).failure == nil)
        #expect(try await deliver(payload, at: TestPush.now + 600).failure == .replayed)
    }

    @Test("a push that timed out before it was restored is shown when it is received again")
    func timedOutIsNotSeen() async throws {
        let payload = try TestPush().sealed()
        let session = try session(payload)
        session.expire()
        #expect(await session.finish().map(\.failure) == [.timedOut])
        #expect(try await deliver(payload).failure == nil)
    }

    @Test("a push that was shown while a stage was running is replayed the second time")
    func cutShortIsSeen() async throws {
        let (payload, held) = (try TestPush().sealed(), HeldStage(.cancellable))
        let session = try session(payload) { $0.stages = [held] }
        session.start()
        await held.begun.wait()
        session.expire()
        _ = await session.finish()
        #expect(try await deliver(payload, at: TestPush.now + 600).failure == .replayed)
    }

    @Test("a push of 20 days ago is expired even if the clock is set back to its time")
    func clockSetBack() async throws {
        let old = try TestPush(options: Sealer.Options(expiresAfter: .seconds(60))).sealed()
        // One day later the first push is confirmed.
        for day: Int64 in [20, 21] {
            let time = TestPush.now + day * 86_400
            let sealer = try Sealer(topic: TestPush.topic, clock: { time })
            let new = try sealer.seal(
                Array(TestPush.json.utf8), to: TestKeys.recipient("p256"), placeholder: .literal(title: "x", body: nil))
            #expect(try await deliver(Array(new.json), at: time).failure == nil)
        }
        #expect(try await deliver(old, at: TestPush.now).failure == .expired)
    }

    @Test("restored pushes, failed pushes and failed stages are counted")
    func statistics() async throws {
        let foreign = try TestPush(key: "other p256").sealed()
        _ = try await deliver(TestPush().sealed())
        _ = try await deliver(foreign)
        _ = try await deliver(foreign)
        _ = try await deliver(TestPush().sealed()) { $0.stages = [ThrowingStage(error: CancellationError())] }
        let statistics = try store.statistics()
        #expect(statistics.opened?.count == 2)
        #expect(statistics.failures.mapValues(\.count) == [.unknownKey: 2])
        #expect(statistics.failures[.unknownKey]?.lastKid == (try TestKeys.id("other p256")))
        #expect(statistics.failures[.unknownKey]?.lastTime == TestPush.now)
        #expect(statistics.stageFailures.count == 1)
        #expect(statistics.lastSelfTest == nil)
    }

    @Test("an accepted unsealed push is counted neither as restored nor as failed and has no receipt")
    func unsealed() async throws {
        let posting = try ReceiptPosting(to: "https://example.com", transport: RecordingTransport())
        let delivery = try await deliver(Array(#"{"aps":{"alert":"x","mutable-content":1}}"#.utf8)) {
            $0.unsealed = .shown
            $0.receipts = posting
        }
        #expect(delivery.isUnsealed)
        #expect(try store.statistics().opened == nil)
        #expect(try store.statistics().failures.isEmpty)
        #expect(try store.receiptCount() == 0)
    }

    @Test("a restored self-test sets the time of the last self-test")
    func selfTest() async throws {
        let sealer = try Sealer(topic: TestPush.topic, clock: { TestPush.now })
        let push = try sealer.seal(
            Array(TestPush.json.utf8), to: TestKeys.recipient("p256"), placeholder: .standard, isSelfTest: true)
        let delivery = try await deliver(Array(push.json))
        #expect(delivery.isRestored)
        #expect(try store.statistics().lastSelfTest == TestPush.now)
    }

    @Test(
        "the receipt of a restored push has its push_id, and that of a failed push its class", arguments: [false, true])
    func receipt(fails: Bool) async throws {
        let transport = RecordingTransport()
        let receipts = try ReceiptPosting(to: "https://example.com", transport: transport, timer: ManualTimer())
        let json = #"{"aps":{"alert":"x"},"push_id":"campaign-7"}"#
        let payload = try TestPush(key: fails ? "other p256" : "p256", json: json).sealed()
        _ = try await deliver(payload) { $0.receipts = receipts }
        let body = try #require(await transport.next())
        #expect(body.contains(fails ? #""outcome":"unknownKey""# : #""outcome":"opened""#))
        #expect(body.contains(#""push":"campaign-7""#) == !fails)
    }

    @Test("the receipt of a replay that is shown passively has the outcome replayed")
    func receiptOfAReplay() async throws {
        let payload = try TestPush().sealed()
        let transport = RecordingTransport()
        let receipts = try ReceiptPosting(to: "https://example.com", transport: transport, timer: ManualTimer())
        for outcome in ["opened", "replayed"] {
            _ = try await deliver(payload) { configuration in
                configuration.replays = .passive
                configuration.receipts = receipts
            }
            #expect(try #require(await transport.next()).contains(#""outcome":"\#(outcome)""#))
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
        for _ in 0..<2 {
            let delivery = try await deliver(payload) { $0.memory = BrokenStore() }
            #expect(delivery.failure == nil)
        }
        let old = try await deliver(payload, at: TestPush.now + TestPush.window) { $0.memory = BrokenStore() }
        #expect(old.failure == .expired)
    }
}
