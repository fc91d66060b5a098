import PushCryptCore
import PushCryptExtension
import PushCryptPrimitives
import PushCryptSimulator
import PushCryptTestSupport
import Testing

/// A push for each failure class of the protocol, delivered by the simulated system: text is shown, the handler is called
/// once, and the text doesn't contain the cause.
@Suite struct SessionFailureTests {
    struct Cause: Sendable, CustomStringConvertible {
        let failure: FailureClass
        var keyring: @Sendable () throws -> any RecipientKeyring = { KeysetKeyring(try TestKeys.keyset("p256")) }
        var time = TestPush.now
        var attachments: (any ContentStage)?
        var memory: (any DeliveryMemory)?
        var payload: @Sendable () throws -> [UInt8] = { try TestPush().sealed() }

        var description: String { failure.description }
    }

    private struct Throwing: RecipientKeyring {
        let failure: FailureClass

        func key(_ id: KeyID, at time: UnixTime) throws(FailureClass) -> RecipientKey { throw failure }
    }

    private struct RefusingStore: DeliveryMemory {
        func claim(_ message: MessageStamp, isReserved: Bool, at time: UnixTime) throws -> ClaimAnswer {
            ClaimAnswer(refusal: .replayed)
        }

        func record(_ record: DeliveryRecord) throws -> RecordAnswer { RecordAnswer() }
    }

    @Sendable private static func keyring(_ lifecycle: KeyLifecycle) throws -> any RecipientKeyring {
        KeysetKeyring(try TestKeys.keyset("p256", lifecycle))
    }

    private static let causes = [
        Cause(failure: .notSealed, payload: { Array(#"{"aps":{"alert":"x","mutable-content":1}}"#.utf8) }),
        Cause(failure: .malformed, payload: { try TestPush().sealed().replacing(#""v":1"#, with: #""v":"1""#) }),
        Cause(failure: .unsupportedVersion, payload: { try TestPush().sealed().replacing(#""v":1"#, with: #""v":2"#) }),
        Cause(failure: .unknownKey, payload: { try TestPush(key: "other p256").sealed() }),
        Cause(failure: .keyLocked, keyring: { Throwing(failure: .keyLocked) }),
        Cause(
            failure: .keyExpired,
            keyring: { try keyring(KeyLifecycle(activatesAt: UnixTime(0), expiresAt: TestPush.now)) }),
        Cause(
            failure: .keyRevoked,
            keyring: { try keyring(KeyLifecycle(activatesAt: UnixTime(0), revokedAt: TestPush.now)) }),
        Cause(
            failure: .undecryptable,
            payload: {
                // The field is well-formed but not encrypted.
                let zeros = String(repeating: "A", count: 200)
                let kid = try TestKeys.id("p256")
                return Array(
                    #"{"aps":{"alert":"x","mutable-content":1},"pushcrypt":{"v":1,"kid":"\#(kid)","sealed":"\#(zeros)"}}"#
                        .utf8)
            }),
        Cause(failure: .expired, time: TestPush.now + TestPush.window),
        Cause(failure: .notYetValid, time: TestPush.now - 601),
        Cause(failure: .replayed, memory: RefusingStore()),
        Cause(failure: .attachmentFailed, attachments: ThrowingStage(error: CancellationError())),
        Cause(failure: .internalError, keyring: { Throwing(failure: .internalError) }),
    ]

    @Test("each failure class is reported and shown as text that doesn't contain the class", arguments: causes)
    func shown(_ cause: Cause) async throws {
        let reporter = RecordingReporter()
        var configuration = try ExtensionConfiguration.test(keyring: cause.keyring())
        configuration.clock = { cause.time }
        configuration.timer = ManualTimer()
        configuration.diagnostics = reporter
        configuration.attachments = cause.attachments
        configuration.memory = cause.memory
        let chosen = configuration
        let host = NotificationHost(
            SessionExtension { payload, handler in
                DeliverySession(payload: payload, configuration: chosen, handler: handler)
            }, timer: ManualTimer())
        let shown = try #require(await host.deliver(cause.payload()))
        #expect(shown.origin == .handedOver)
        #expect((host.handlerCallCount, host.breachCount) == (1, 0))
        await reporter.reported.wait()
        #expect(reporter.reports.map(\.failure) == [cause.failure])
        for text in [shown.content?.title, shown.content?.subtitle, shown.content?.body] {
            #expect(text?.literal?.contains(cause.failure.rawValue) != true)
        }
    }

    @Test(
        "a report names the sender key of a push, also if the phone trusts another one; of an unsigned push it names none",
        arguments: ["sender", "other sender", nil])
    func senderKey(signer: String?) async throws {
        let reporter = RecordingReporter()
        var configuration = try ExtensionConfiguration(
            topic: TestPush.topic, keyring: KeysetKeyring(TestKeys.keyset("p256")),
            senders: .pinned(TestKeys.trusted(["sender"])), fallback: .outerAlert(orElse: .standard))
        configuration.clock = { TestPush.now }
        configuration.timer = ManualTimer()
        configuration.diagnostics = reporter
        let chosen = configuration
        let host = NotificationHost(
            SessionExtension { payload, handler in
                DeliverySession(payload: payload, configuration: chosen, handler: handler)
            }, timer: ManualTimer())
        _ = await host.deliver(try TestPush(signer: signer).sealed())
        await reporter.reported.wait()
        let report = try #require(reporter.reports.first)
        let skid = try signer.map { try TestKeys.sender($0).kid }
        #expect(report.isRestored == (signer == "sender") && report.skid == skid)
        #expect(try Receipt(report).skid == (report.isRestored ? nil : skid))
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
}
