import PushCryptExtension
import PushCryptSimulator
import PushCryptTestSupport
import Testing

@Suite struct DeliverySessionTests {
    /// Runs a session whose key is available.
    private static func deliveries(
        of payload: [UInt8], key: String = "p256", at time: UnixTime = TestPush.now
    ) async throws -> [DeliverySession.Delivery] {
        let session = try TestSession(payload: payload, key: key, at: time)
        session.releaseKeyring()
        session.start()
        return await session.finish()
    }

    @Test("a sealed push is delivered with its opened content")
    func restored() async throws {
        let payload = try TestPush().sealed()
        let deliveries = try await Self.deliveries(of: payload)
        #expect(deliveries.map(\.failure) == [nil])
        #expect(deliveries.first?.content == (try TestPush.open(payload).get().content))
    }

    struct Broken: Sendable, CustomStringConvertible {
        let failure: FailureClass
        var key = "p256"
        var time = TestPush.now
        let payload: @Sendable () throws -> [UInt8]

        var description: String { failure.description }
    }

    private static let broken = [
        Broken(failure: .notSealed) { Array(#"{"aps":{"alert":"x","mutable-content":1}}"#.utf8) },
        Broken(failure: .malformed) { [] },
        Broken(failure: .malformed) { try TestPush().sealed() + [0] },
        Broken(failure: .unsupportedVersion) { try TestPush().sealed().replacing(#""v":1"#, with: #""v":2"#) },
        Broken(failure: .unknownKey, key: "other p256") { try TestPush().sealed() },
        Broken(failure: .unknownKey) { try TestPush(signer: "sender").sealed() },
        Broken(failure: .undecryptable, key: "other device") { try TestPush(key: "device").sealed() },
        Broken(failure: .expired, time: TestPush.now + TestPush.window) { try TestPush().sealed() },
        Broken(failure: .notYetValid, time: TestPush.now - 601) { try TestPush().sealed() },
    ]

    @Test("a push that can't be opened is delivered as a placeholder with its failure class", arguments: broken)
    func failure(broken: Broken) async throws {
        let payload = try broken.payload()
        let deliveries = try await Self.deliveries(of: payload, key: broken.key, at: broken.time)
        #expect(deliveries.map(\.failure) == [broken.failure])
        let placeholder = Fallback.outerAlert(orElse: .standard).content(for: payload, broken.failure)
        #expect(deliveries.map(\.content) == [placeholder])
        #expect(deliveries.allSatisfy { $0.content.hasText })
    }

    @Test(
        "a session uses the fallback and the deadline of its configuration",
        arguments: [Duration.seconds(25), .milliseconds(1_500), .zero])
    func configuration(deadline: Duration) async throws {
        let bundled = Fallback.bundled(.literal(title: "Bundled", body: nil))
        let session = try TestSession(
            payload: Array("{}".utf8), configuration: .test(fallback: bundled, deadline: deadline))
        session.start()
        let deliveries = await session.finish()
        #expect(deliveries.first?.content.title.literal == "Bundled")
        #expect(session.timer.durations == [deadline])
    }

    @Test("the default deadline is 25 seconds")
    func defaults() throws {
        let opener = try ExtensionConfiguration.test().opener
        let configuration = ExtensionConfiguration(opener: opener, fallback: .outerAlert(orElse: .standard))
        #expect(configuration.deadline == .seconds(25))
    }

    @Test("a running session retains itself until its handler was called")
    func keepsItselfUntilDelivered() async throws {
        let session = try TestSession(payload: TestPush().sealed())
        session.start()
        session.abandon()
        await session.asked.wait()
        #expect(session.isAlive)
        #expect(session.deliveries.isEmpty)
        session.releaseKeyring()
        #expect(await session.finish().map(\.failure) == [nil])
        #expect(!session.isAlive)
    }

    @Test("the deadline timer is cancelled after the delivery")
    func timerIsCancelledAfterDelivery() async throws {
        let session = try TestSession(payload: TestPush().sealed())
        session.start()
        await session.asked.wait()
        #expect(session.timer.isPending)
        #expect(session.timer.cancelCount == 0)
        session.releaseKeyring()
        _ = await session.finish()
        #expect(!session.timer.isPending)
        #expect(session.timer.cancelCount == 1)
    }

    @Test("a session that is started several times asks for its key, sets its timer and calls its handler once")
    func startedTwice() async throws {
        let reporter = RecordingReporter()
        var configuration = try ExtensionConfiguration.test()
        configuration.diagnostics = reporter
        let session = try TestSession(payload: TestPush().sealed(), configuration: configuration)
        session.start()
        session.start()
        await session.asked.wait()
        session.start()
        // If the session asked for its key twice, both requests would be answered.
        session.releaseKeyring()
        session.releaseKeyring()
        #expect(await session.finish().map(\.failure) == [nil])
        #expect(session.timer.durations == [.seconds(25)])
        #expect(session.timer.cancelCount == 1)
        #expect(reporter.reports.count == 1)
    }

    @Test("starting a session again from its handler does nothing")
    func startedAfterTheEnd() async throws {
        let session = try TestSession(payload: TestPush().sealed())
        session.whenDelivered { [weak session] in session?.start() }
        session.releaseKeyring()
        session.start()
        #expect(await session.finish().map(\.failure) == [nil])
        #expect(session.timer.durations == [.seconds(25)])
    }

    @Test(
        "the longest time limits don't trap with the default timer",
        arguments: [.seconds(10_000_000_000), .seconds(Int64.max)] as [Duration])
    func longLimits(limit: Duration) async throws {
        var configuration = try ExtensionConfiguration.test(deadline: limit)
        configuration.attachments = SuffixStage(suffix: "!", timeLimit: limit)
        let delivery = try await configuration.delivery(of: TestPush().sealed())
        #expect(delivery.content.title.literal == "Zoë!")
    }

    @Test("a push is refused if the clock has an extreme time", arguments: [.min, .max] as [Int64])
    func extremeClock(seconds: Int64) async throws {
        let deliveries = try await Self.deliveries(of: TestPush().sealed(), at: UnixTime(seconds))
        #expect(deliveries.map(\.failure) == [seconds > 0 ? .expired : .notYetValid])
    }

    @Test("a session that isn't started sets no timer and calls no handler")
    func notStarted() async throws {
        let session = try TestSession(payload: TestPush().sealed())
        #expect(await session.finish().isEmpty)
        #expect(session.timer.durations.isEmpty)
    }
}
