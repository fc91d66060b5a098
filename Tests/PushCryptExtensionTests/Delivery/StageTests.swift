import PushCryptExtension
import PushCryptPrimitives
import PushCryptSimulator
import PushCryptTestSupport
import Testing

/// Stages change restored content in order, and a failed stage doesn't revert the results of others.
@Suite struct StageTests {
    private static func session(
        _ stages: [any ContentStage], attachments: (any ContentStage)? = nil, payload: [UInt8]? = nil
    ) throws -> TestSession {
        var configuration = try ExtensionConfiguration.test()
        configuration.stages = stages
        configuration.attachments = attachments
        let session = try TestSession(payload: payload ?? TestPush().sealed(), configuration: configuration)
        session.releaseKeyring()
        return session
    }

    @Test("attachments and stages run in order, each on the content of the previous one")
    func inOrder() async throws {
        let session = try Self.session(
            [SuffixStage(suffix: " b"), SuffixStage(suffix: " c")], attachments: SuffixStage(suffix: " a"))
        session.start()
        let deliveries = await session.finish()
        #expect(deliveries.map(\.content.title.literal) == ["Zoë a b c"])
        #expect(deliveries.map(\.failure) == [nil])
        #expect(deliveries.allSatisfy { $0.isRestored && $0.stageFailures.isEmpty })
    }

    struct Failing: Sendable, CustomStringConvertible {
        let stage: any ContentStage
        let ending: StageFailure.Ending
        var description: String { "\(stage.name) \(ending)" }
    }

    private static let failing = [
        Failing(stage: ThrowingStage(error: ThrowingStage.Failure()), ending: .failed),
        Failing(stage: ThrowingStage(error: CancellationError()), ending: .failed),
        Failing(stage: EmptyingStage(), ending: .emptied),
    ]

    @Test("a failing stage is skipped and the other stages run", arguments: failing)
    func oneFails(_ failing: Failing) async throws {
        let session = try Self.session([SuffixStage(suffix: " a"), failing.stage, SuffixStage(suffix: " b")])
        session.start()
        let deliveries = await session.finish()
        #expect(deliveries.map(\.content.title.literal) == ["Zoë a b"])
        #expect(deliveries.map(\.failure) == [nil])
        #expect(deliveries.first?.stageFailures == [StageFailure(stage: failing.stage.name, ending: failing.ending)])
    }

    @Test("a failing attachment stage makes the push attachmentFailed and the other stages run", arguments: failing)
    func attachmentsFail(_ failing: Failing) async throws {
        let session = try Self.session([SuffixStage(suffix: " b")], attachments: failing.stage)
        session.start()
        let deliveries = await session.finish()
        #expect(deliveries.map(\.content.title.literal) == ["Zoë b"])
        #expect(deliveries.map(\.failure) == [.attachmentFailed])
        #expect(deliveries.map(\.isRestored) == [true])
    }

    @Test(
        "at the deadline a stuck stage is skipped and the content before it is delivered",
        arguments: HeldStage.Manner.allCases, DeadlineTests.End.allCases)
    func stuckStage(_ manner: HeldStage.Manner, _ end: DeadlineTests.End) async throws {
        let held = HeldStage(manner)
        let session = try Self.session([SuffixStage(suffix: " a"), held, SuffixStage(suffix: " b")])
        session.start()
        await held.begun.wait()
        #expect(session.deliveries.isEmpty)
        end.apply(to: session)
        #expect(session.deliveries.map(\.content.title.literal) == ["Zoë a"])
        #expect(session.deliveries.map(\.failure) == [nil])
        #expect(session.deliveries.first?.stageFailures == [StageFailure(stage: "held", ending: .timedOut)])
        held.release()
        await held.ended.wait()
        #expect(await session.finish().count == 1)
    }

    @Test("at the deadline stuck attachments make the push attachmentFailed", arguments: HeldStage.Manner.allCases)
    func stuckAttachments(_ manner: HeldStage.Manner) async throws {
        let held = HeldStage(manner)
        let session = try Self.session([], attachments: held)
        session.start()
        await held.begun.wait()
        session.expire()
        #expect(session.deliveries.map(\.failure) == [.attachmentFailed])
        #expect(session.deliveries.map(\.content.title.literal) == ["Zoë"])
        held.release()
        #expect(await session.finish().count == 1)
    }

    @Test(
        "after its own time limit a stuck stage is skipped and the next stage runs",
        arguments: HeldStage.Manner.allCases)
    func ownTimeLimit(_ manner: HeldStage.Manner) async throws {
        let held = HeldStage(manner, timeLimit: .seconds(3))
        let session = try Self.session([held, SuffixStage(suffix: " b")])
        session.start()
        await held.begun.wait()
        session.timer.fire(.seconds(3))
        await session.delivered.wait()
        #expect(session.deliveries.map(\.content.title.literal) == ["Zoë b"])
        #expect(session.deliveries.first?.stageFailures == [StageFailure(stage: "held", ending: .timedOut)])
        held.release()
        #expect(await session.finish().count == 1)
        #expect(!session.timer.isPending)
    }

    @Test("the time limit of a completed stage is cancelled")
    func timeLimitIsGivenUp() async throws {
        let held = HeldStage(.cancellable, timeLimit: .seconds(3))
        let session = try Self.session([held])
        session.start()
        await held.begun.wait()
        held.release()
        #expect(await session.finish().map(\.content.title.literal) == ["Zoë late"])
        #expect(session.timer.durations == [.seconds(25), .seconds(3)])
        #expect(session.timer.cancelCount == 2)
    }

    /// Dispatch has 255 threads at most.
    @Test("300 stages that block their threads don't delay another push")
    func stuckSessions() async throws {
        let held = (0..<300).map { _ in HeldStage(.blocking) }
        let stuck = try held.map { try Self.session([$0]) }
        for session in stuck { session.start() }
        for stage in held { await stage.begun.wait() }
        let session = try Self.session([SuffixStage(suffix: " a")])
        session.start()
        #expect(await session.finish().map(\.content.title.literal) == ["Zoë a"])
        for (session, stage) in zip(stuck, held) {
            stage.release()
            #expect(await session.finish().map(\.content.title.literal) == ["Zoë late"])
        }
    }

    @Test("a stage that starts 500 child tasks uses one thread")
    func childTasks() async throws {
        let stage = CrowdedStage()
        let session = try Self.session([stage])
        session.start()
        #expect(await session.finish().map(\.content.title.literal) == ["Zoë 500"])
        #expect(stage.mostAtOnce == 1)
    }

    @Test("no stage runs for a push that wasn't restored")
    func noStageForAPlaceholder() async throws {
        let stage = SuffixStage(suffix: " a")
        let session = try Self.session([stage], attachments: stage, payload: TestPush(key: "other p256").sealed())
        session.start()
        let deliveries = await session.finish()
        #expect(deliveries.map(\.failure) == [.unknownKey])
        #expect(deliveries.map(\.content.title.literal) == ["New message"])
    }

    enum CutStep: CaseIterable { case attachments, offload, own }

    @Test(
        "a restored push has one receipt, even if the time runs out in any of its steps",
        arguments: CutStep.allCases, DeadlineTests.End.allCases)
    func receiptAtTheDeadline(step: CutStep, end: DeadlineTests.End) async throws {
        let (held, transport) = (HeldStage(.ignoresCancellation), RecordingTransport())
        var configuration = try ExtensionConfiguration.test()
        configuration.receipts = try ReceiptPosting(
            to: "https://example.com", transport: transport, timer: ManualTimer())
        var payload = try TestPush().sealed()
        switch step {
        case .attachments: configuration.attachments = held
        case .offload:
            configuration.offload = OffloadFetcher(transport: StuckTransport(asked: held.begun))
            payload = try OffloadTests.push().payload
        case .own: configuration.stages = [held]
        }
        let session = try TestSession(payload: payload, configuration: configuration)
        session.releaseKeyring()
        session.start()
        await held.begun.wait()
        end.apply(to: session)
        held.release()
        let deliveries = await session.finish()
        #expect(deliveries.map(\.isRestored) == [true])
        #expect(deliveries.map(\.failure) == [step == .own ? nil : .attachmentFailed])
        let outcome = step == .own ? "opened" : "attachmentFailed"
        #expect(try #require(await transport.next()).contains(#""outcome":"\#(outcome)""#))
        #expect(transport.bodies.count == 1)
    }
}
