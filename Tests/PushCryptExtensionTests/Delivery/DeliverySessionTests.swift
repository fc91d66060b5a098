import PushCryptPrimitives
import PushCryptSimulator
import PushCryptTestSupport
import Testing

@testable import PushCryptExtension

/// How a session starts, how long it lives, and how it ends. `RelayAttackTests` have restored content.
@Suite struct DeliverySessionTests {
    @Test(
        "a session uses its fallback and its deadline, by default 25 seconds",
        arguments: [Duration.seconds(25), .milliseconds(1_500), .zero])
    func configuration(deadline: Duration) async throws {
        let session = try TestSession(Array("{}".utf8)) {
            $0.fallback = .bundled(.literal(title: "Bundled", body: nil))
            $0.deadline = deadline
        }
        #expect(await session.run().first?.content.title.literal == "Bundled")
        #expect(session.timer.durations == [deadline])
        let opener = try ExtensionConfiguration.test().opener
        #expect(ExtensionConfiguration(opener: opener, fallback: .bundled(.standard)).deadline == .seconds(25))
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
        await session.start(until: session.asked)
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
        "the longest time limits don't trap",
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

/// A push for each failure class of the protocol, delivered by the simulated system: the placeholder is shown, the handler is
/// called once, and the text doesn't contain the cause.
@Suite struct SessionFailureTests {
    struct Cause: Sendable, CustomStringConvertible {
        let failure: FailureClass
        var key = "p256"
        var keyring: (any RecipientKeyring)?
        var lifecycle: KeyLifecycle?
        var time = TestPush.now
        var attachments: (any ContentStage)?
        var memory: (any DeliveryMemory)?
        var payload: @Sendable () throws -> [UInt8] = { try TestPush().sealed() }
        var description: String { failure.description }
    }

    private struct RefusingStore: DeliveryMemory {
        func claim(_ message: MessageStamp, isReserved: Bool, at time: UnixTime) throws -> ClaimAnswer {
            ClaimAnswer(refusal: .replayed)
        }

        func record(_ record: DeliveryRecord) throws -> RecordAnswer { RecordAnswer() }
    }

    private static let causes = [
        Cause(failure: .notSealed) { Array(#"{"aps":{"alert":"x","mutable-content":1}}"#.utf8) },
        Cause(failure: .malformed) { try TestPush().sealed().replacing(#""v":1"#, with: #""v":"1""#) },
        Cause(failure: .unsupportedVersion) { try TestPush().sealed().replacing(#""v":1"#, with: #""v":2"#) },
        Cause(failure: .unknownKey, key: "other p256"),
        Cause(failure: .unknownKey) { try TestPush(signer: "sender").sealed() },
        Cause(failure: .keyLocked, keyring: FailingKeyring(failure: .keyLocked)),
        Cause(failure: .keyExpired, lifecycle: KeyLifecycle(activatesAt: UnixTime(0), expiresAt: TestPush.now)),
        Cause(failure: .keyRevoked, lifecycle: .revoked(at: TestPush.now)),
        Cause(failure: .undecryptable, key: "other device") { try TestPush(key: "device").sealed() },
        Cause(failure: .undecryptable) {
            // The field is well-formed but not encrypted.
            try TestPush().sealed().with("sealed", String(repeating: "A", count: 200))
        },
        Cause(failure: .expired, time: TestPush.now + TestPush.window),
        Cause(failure: .notYetValid, time: TestPush.now - 601),
        Cause(failure: .replayed, memory: RefusingStore()),
        Cause(failure: .attachmentFailed, attachments: TestStage.throwing(CancellationError())),
        Cause(failure: .internalError, keyring: FailingKeyring(failure: .internalError)),
    ]

    /// Delivers a payload to a host whose extension has the configuration.
    private static func deliver(
        _ payload: [UInt8], _ configuration: ExtensionConfiguration
    ) async throws -> (content: NotificationContent?, report: DeliveryReport) {
        let reporter = RecordingReporter()
        var configuration = configuration
        configuration.timer = ManualTimer()
        configuration.diagnostics = reporter
        let chosen = configuration
        let host = NotificationHost(
            SessionExtension { payload, handler in
                DeliverySession(payload: payload, configuration: chosen, handler: handler)
            }, timer: ManualTimer())
        let shown = try #require(await host.deliver(payload))
        #expect(shown.origin == .handedOver)
        #expect((host.handlerCallCount, host.breachCount) == (1, 0))
        await reporter.reported.wait()
        #expect(reporter.reports.count == 1)
        return (shown.content, try #require(reporter.reports.first))
    }

    @Test("each failure class is reported, and a placeholder is shown whose text doesn't contain it", arguments: causes)
    func shown(_ cause: Cause) async throws {
        let keyring = try cause.keyring ?? KeysetKeyring(TestKeys.keyset(cause.key, cause.lifecycle))
        var configuration = try ExtensionConfiguration.test(keyring: keyring)
        configuration.clock = { cause.time }
        configuration.attachments = cause.attachments
        configuration.memory = cause.memory
        let payload = try cause.payload()
        let (content, report) = try await Self.deliver(payload, configuration)
        #expect(report.failure == cause.failure)
        let placeholder = Fallback.outerAlert(orElse: .standard).content(for: payload, cause.failure)
        let restored = try? TestPush.open(payload).get().content
        #expect(content == (cause.failure == .attachmentFailed ? restored : placeholder))
        #expect(content?.hasText == true)
        for text in [content?.title, content?.subtitle, content?.body] {
            #expect(text?.literal?.contains(cause.failure.rawValue) != true)
        }
    }

    /// ``DeadlineTests``, ``RetractionTests`` and ``FileKeyringTests`` cover the others.
    @Test("the test cases cover every failure class of the protocol")
    func noneIsLeftOut() {
        let all = Set(FailureClass.Defined.allCases.map(FailureClass.init))
        let reached = Set(Self.causes.map(\.failure))
        #expect(all.subtracting(reached) == [.timedOut, .retracted, .unsupportedSuite])
    }

    @Test(
        "a report names the sender key of a push, also if the phone trusts another one; of an unsigned push it names none",
        arguments: ["sender", "other sender", nil])
    func senderKey(signer: String?) async throws {
        let configuration = try ExtensionConfiguration.test(senders: .pinned(TestKeys.trusted(["sender"])))
        let (_, report) = try await Self.deliver(TestPush(signer: signer).sealed(), configuration)
        let skid = try signer.map { try TestKeys.sender($0).kid }
        #expect(report.isRestored == (signer == "sender") && report.skid == skid)
        #expect(try Receipt(report).skid == (report.isRestored ? nil : skid))
    }
}

/// Sessions that end at their deadline, and events after the end.
@Suite struct DeadlineTests {
    enum End: CaseIterable {
        case timer, expire

        func apply(to session: TestSession) {
            switch self {
            case .timer: session.timer.fire()
            case .expire: session.expire()
            }
        }
    }

    private static func expectTimedOut(
        _ deliveries: [DeliverySession.Delivery], _ location: SourceLocation = #_sourceLocation
    ) {
        #expect(deliveries.map(\.failure) == [.timedOut], sourceLocation: location)
        #expect(deliveries.first?.content.title.literal == "New message", sourceLocation: location)
        #expect(
            deliveries.first?.content.userInfo.text.hasSuffix(#""status":"failed","reason":"timedOut"}}"#) == true,
            sourceLocation: location)
    }

    @Test("deadlines before the key show the placeholder once", arguments: End.allCases, End.allCases)
    func beforeCompletion(first: End, second: End) async throws {
        let session = try TestSession(waitsForKey: true)
        await session.start(until: session.asked)
        first.apply(to: session)
        Self.expectTimedOut(session.deliveries)
        #expect(!session.timer.isPending)
        for end in [second, first] { end.apply(to: session) }
        session.releaseKeyring()
        Self.expectTimedOut(await session.finish())
    }

    @Test("a deadline after the delivery doesn't call the handler again", arguments: End.allCases)
    func afterCompletion(end: End) async throws {
        let session = try TestSession(timer: ManualTimer(ignoresCancellation: true))
        await session.start(until: session.delivered)
        end.apply(to: session)
        session.timer.fire()
        #expect(await session.finish().map(\.failure) == [nil])
    }

    @Test("a deadline inside the handler doesn't call it again", arguments: End.allCases)
    func duringCompletion(end: End) async throws {
        let session = try TestSession()
        session.whenDelivered { [weak session] in session.map(end.apply(to:)) }
        #expect(await session.run().map(\.failure) == [nil])
    }

    @Test("a key that arrives inside the handler doesn't call it again", arguments: End.allCases)
    func duringTheEnd(end: End) async throws {
        let session = try TestSession(waitsForKey: true)
        session.whenDelivered { [weak session] in
            session?.releaseKeyring()
            session.map(end.apply(to:))
        }
        await session.start(until: session.asked)
        end.apply(to: session)
        Self.expectTimedOut(await session.finish())
    }

    @Test("a session that expired before its start shows the placeholder and sets no timer")
    func expiredBeforeTheStart() async throws {
        let session = try TestSession()
        session.expire()
        Self.expectTimedOut(session.deliveries)
        session.start()
        #expect(!session.timer.isPending)
        Self.expectTimedOut(await session.finish())
    }

}

@Suite struct TimeLimitTests {
    @Test("a time limit is set before the limited work starts")
    func order() async throws {
        for _ in 1...2_000 {
            let timer = ManualTimer()
            let durations = try await timer.limit(.seconds(10)) { timer.durations }
            #expect(durations == [.seconds(10)])
            #expect(!timer.isPending)
        }
    }

    @Test("work is cancelled at its time limit, also if that passes before the work starts")
    func reached() async throws {
        await #expect(throws: CancellationError.self) {
            try await OverTimer().limit(.zero) { try Task.checkCancellation() }
        }
        let timer = ManualTimer()
        await #expect(throws: CancellationError.self) {
            try await timer.limit(.seconds(10)) {
                timer.fire(.seconds(10))
                try Task.checkCancellation()
            }
        }
    }

    @Test("work whose caller is cancelled right after it has begun is cancelled at that moment")
    func callerCancelled() async throws {
        for _ in 0..<100 {
            let caller = Locked(Task<Bool, any Error>?.none)
            let task = caller.withLock { state in
                let task = Task {
                    try await ManualTimer().limit(.seconds(10)) {
                        caller.withLock { $0 }?.cancel()
                        return Task.isCancelled
                    }
                }
                state = task
                return task
            }
            #expect(try await task.value)
        }
    }

    @Test("work whose caller is cancelled is cancelled, and its time limit no longer waits")
    func cancelled() async throws {
        let timer = ManualTimer()
        let caller = Task {
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            try await timer.limit(.seconds(10)) { try Task.checkCancellation() }
        }
        await #expect(throws: CancellationError.self) { try await caller.value }
        #expect(timer.cancelCount == 1 && !timer.isPending)
    }

    /// A timer whose time has passed when it is set.
    private struct OverTimer: DeadlineTimer {
        func schedule(after duration: Duration, _ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
            body()
            return {}
        }
    }
}
