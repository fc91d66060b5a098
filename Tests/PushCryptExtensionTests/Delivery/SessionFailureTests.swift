import PushCryptExtension
import PushCryptPrimitives
import PushCryptSimulator
import PushCryptTestSupport
import Testing

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

    /// ``DeadlineTests`` and ``RaceTests`` cover `timedOut`.
    @Test("the test cases cover every failure class of the protocol")
    func noneIsLeftOut() {
        let reached = Set(Self.causes.map(\.failure)).union([.timedOut])
        let all: Set<FailureClass> = [
            .notSealed, .malformed, .unsupportedVersion, .unknownKey, .keyLocked, .keyExpired, .keyRevoked,
            .undecryptable, .expired, .notYetValid, .replayed, .timedOut, .attachmentFailed, .internalError,
        ]
        #expect(reached == all)
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
