import PushCryptExtension
import PushCryptSimulator
import PushCryptTestSupport
import Testing

/// How a session starts, how long it lives, and how it ends. `RelayAttackTests` have restored content. ``SessionFailureTests`` have the failures.
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
