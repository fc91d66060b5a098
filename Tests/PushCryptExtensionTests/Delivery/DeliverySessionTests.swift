import PushCryptExtension
import PushCryptPrimitives
import PushCryptSimulator
import PushCryptTestSupport
import Testing

/// What a session delivers of a push, and how long it lives. ``SessionFailureTests`` have the failures.
@Suite struct DeliverySessionTests {
    @Test("a sealed push is delivered with its opened content")
    func restored() async throws {
        let payload = try TestPush().sealed()
        let deliveries = try await TestSession(payload).run()
        #expect(deliveries.map(\.failure) == [nil])
        #expect(deliveries.first?.content == (try TestPush.open(payload).get().content))
    }

    @Test(
        "a session uses the fallback and the deadline of its configuration",
        arguments: [Duration.seconds(25), .milliseconds(1_500), .zero])
    func configuration(deadline: Duration) async throws {
        let session = try TestSession(Array("{}".utf8)) {
            $0.fallback = .bundled(.literal(title: "Bundled", body: nil))
            $0.deadline = deadline
        }
        #expect(await session.run().first?.content.title.literal == "Bundled")
        #expect(session.timer.durations == [deadline])
    }

    @Test("the default deadline is 25 seconds")
    func defaults() throws {
        let opener = try ExtensionConfiguration.test().opener
        let configuration = ExtensionConfiguration(opener: opener, fallback: .outerAlert(orElse: .standard))
        #expect(configuration.deadline == .seconds(25))
    }

    @Test("a running session retains itself until its handler was called, and then cancels its timer")
    func keepsItselfUntilDelivered() async throws {
        let session = try TestSession(waitsForKey: true)
        session.start()
        session.abandon()
        await session.asked.wait()
        #expect(session.isAlive)
        #expect(session.deliveries.isEmpty)
        #expect(session.timer.isPending && session.timer.cancelCount == 0)
        session.releaseKeyring()
        #expect(await session.finish().map(\.failure) == [nil])
        #expect(!session.isAlive)
        #expect(!session.timer.isPending && session.timer.cancelCount == 1)
    }

    @Test("a session that is started several times asks for its key, sets its timer and calls its handler once")
    func startedTwice() async throws {
        let reporter = RecordingReporter()
        let session = try TestSession(waitsForKey: true) { $0.diagnostics = reporter }
        session.whenDelivered { [weak session] in session?.start() }
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

    @Test("a session that isn't started sets no timer and calls no handler")
    func notStarted() async throws {
        let session = try TestSession()
        #expect(await session.finish().isEmpty)
        #expect(session.timer.durations.isEmpty)
    }

    @Test(
        "the longest time limits don't trap with the default timer",
        arguments: [.seconds(10_000_000_000), .seconds(Int64.max)] as [Duration])
    func longLimits(limit: Duration) async throws {
        var configuration = try ExtensionConfiguration.test(deadline: limit)
        configuration.attachments = TestStage.suffix("!", timeLimit: limit)
        let delivery = try await configuration.delivery(of: TestPush().sealed())
        #expect(delivery.content.title.literal == "Zoë!")
    }

    @Test("a push is refused if the clock has an extreme time", arguments: [.min, .max] as [Int64])
    func extremeClock(seconds: Int64) async throws {
        let delivery = try await deliver(TestPush().sealed(), at: UnixTime(seconds))
        #expect(delivery.failure == (seconds > 0 ? .expired : .notYetValid))
    }
}
