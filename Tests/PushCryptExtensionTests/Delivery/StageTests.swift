import PushCryptPrimitives
import PushCryptSender
import PushCryptSimulator
import PushCryptTestSupport
import Testing

/// Stages change restored content in order, and a failed stage doesn't revert the results of others. `BlobAttackTests` have
/// servers that change an offloaded payload.
@Suite struct StageTests {
    private static func session(
        _ stages: [any ContentStage], attachments: (any ContentStage)? = nil, payload: [UInt8]? = nil
    ) throws -> TestSession {
        try TestSession(payload) { ($0.stages, $0.attachments) = (stages, attachments) }
    }

    private static let (a, b) = (TestStage.suffix(" a"), TestStage.suffix(" b"))

    @Test("attachments and stages run in order, each on the content of the previous one")
    func inOrder() async throws {
        let deliveries = try await Self.session([Self.b, TestStage.suffix(" c")], attachments: Self.a).run()
        #expect(deliveries.map(\.content.title.literal) == ["Zoë a b c"])
        #expect(deliveries.map(\.failure) == [nil])
        #expect(deliveries.allSatisfy { $0.isRestored && $0.stageFailures.isEmpty })
    }

    private static let failing: [(TestStage, StageFailure.Ending)] = [
        (.throwing(TestStage.Failure()), .failed), (.throwing(CancellationError()), .failed), (.emptying, .emptied),
    ]

    @Test("a failing stage is skipped, and of the attachments makes the push attachmentFailed", arguments: failing)
    func fails(_ stage: TestStage, _ ending: StageFailure.Ending) async throws {
        let deliveries = try await Self.session([Self.a, stage, Self.b]).run()
        #expect(deliveries.map(\.content.title.literal) == ["Zoë a b"])
        #expect(deliveries.map(\.failure) == [nil])
        #expect(deliveries.first?.stageFailures == [StageFailure(stage: stage.name, ending: ending)])
        let attachments = try await Self.session([Self.b], attachments: stage).run()
        #expect(attachments.map(\.content.title.literal) == ["Zoë b"])
        #expect(attachments.map(\.failure) == [.attachmentFailed])
        #expect(attachments.map(\.isRestored) == [true])
    }

    @Test(
        "at the deadline a stuck stage is skipped, and stuck attachments make the push attachmentFailed",
        arguments: HeldStage.Manner.allCases, DeadlineTests.End.allCases)
    func stuckStage(_ manner: HeldStage.Manner, _ end: DeadlineTests.End) async throws {
        for isAttachment in [false, true] {
            let held = HeldStage(manner)
            let stages: [any ContentStage] = isAttachment ? [Self.b] : [Self.a, held, Self.b]
            let session = try Self.session(stages, attachments: isAttachment ? held : nil)
            await session.start(until: held.begun)
            #expect(session.deliveries.isEmpty)
            end.apply(to: session)
            #expect(session.deliveries.map(\.content.title.literal) == [isAttachment ? "Zoë" : "Zoë a"])
            #expect(session.deliveries.map(\.failure) == [isAttachment ? .attachmentFailed : nil])
            #expect(session.deliveries.first?.stageFailures == [StageFailure(stage: "held", ending: .timedOut)])
            held.release()
            await held.ended.wait()
            #expect(await session.finish().count == 1)
        }
    }

    @Test("after its own time limit a stuck stage is skipped", arguments: HeldStage.Manner.allCases)
    func ownTimeLimit(_ manner: HeldStage.Manner) async throws {
        let held = HeldStage(manner, timeLimit: .seconds(3))
        let session = try Self.session([held, Self.b])
        await session.start(until: held.begun)
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
        let held = HeldStage(timeLimit: .seconds(3))
        let session = try Self.session([held])
        await session.start(until: held.begun)
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
        #expect(try await Self.session([Self.a]).run().map(\.content.title.literal) == ["Zoë a"])
        for (session, stage) in zip(stuck, held) {
            stage.release()
            #expect(await session.finish().map(\.content.title.literal) == ["Zoë late"])
        }
    }

    @Test("a stage that starts 500 child tasks uses one thread")
    func childTasks() async throws {
        let crowd = Locked((count: 0, most: 0))
        let stage = TestStage { content in
            let numbers = await withTaskGroup(of: UInt64.self) { group in
                for seed in 0..<500 as Range<UInt64> {
                    group.addTask {
                        crowd.withLock { ($0.count, $0.most) = ($0.count + 1, max($0.most, $0.count + 1)) }
                        defer { crowd.withLock { $0.count -= 1 } }
                        var generator = SplitMix64(seed: seed)
                        return (0..<2_000).reduce(0 as UInt64) { sum, _ in sum &+ generator.next() }
                    }
                }
                return await group.reduce(into: [UInt64]()) { $0.append($1) }
            }
            content.title.literal = (content.title.literal ?? "") + " \(numbers.count)"
        }
        #expect(try await Self.session([stage]).run().map(\.content.title.literal) == ["Zoë 500"])
        #expect(crowd.withLock { $0.most } == 1)
    }

    enum CutStep: CaseIterable { case attachments, offload, own }

    @Test("a push has one receipt if any step is cut off", arguments: CutStep.allCases, DeadlineTests.End.allCases)
    func receiptAtTheDeadline(step: CutStep, end: DeadlineTests.End) async throws {
        let (held, transport) = (HeldStage(.ignoresCancellation), RecordingTransport())
        let payload = try TestPush.offloading(Sealer.offload(Array(TestPush.json.utf8)))
        let session = try TestSession(step == .offload ? payload : nil) { configuration in
            configuration.receipts = try ReceiptPosting(
                to: "https://example.com", transport: transport, timer: ManualTimer())
            switch step {
            case .attachments: configuration.attachments = held
            case .offload: configuration.offload = OffloadFetcher(transport: StuckTransport(asked: held.begun))
            case .own: configuration.stages = [held]
            }
        }
        await session.start(until: held.begun)
        end.apply(to: session)
        held.release()
        let deliveries = await session.finish()
        #expect(deliveries.map(\.isRestored) == [true])
        #expect(deliveries.map(\.failure) == [step == .own ? nil : .attachmentFailed])
        let outcome = step == .own ? "opened" : "attachmentFailed"
        #expect(try #require(await transport.next()).contains(#""outcome":"\#(outcome)""#))
        #expect(transport.bodies.count == 1)
    }

    @Test("an offloaded payload is fetched for the stages, or the short alert is shown", arguments: [true, false, nil])
    func offload(isThere: Bool?) async throws {
        let json = #"{"aps":{"alert":{"title":"Zoë","body":"the whole of it"}},"push_id":9}"#
        let blob = try Sealer.offload(Array(json.utf8))
        let reporter = RecordingReporter()
        let delivery = try await deliver(TestPush.offloading(blob), reporter: reporter) { configuration in
            configuration.offload = isThere.map { OffloadFetcher(transport: OneBody(bytes: $0 ? blob.bytes : nil)) }
            configuration.stages = [TestStage.suffix("!")]
        }
        let isWhole = isThere == true
        #expect(delivery.isRestored && delivery.failure == (isWhole ? nil : .attachmentFailed))
        #expect(delivery.content.title.literal == (isWhole ? "Zoë!" : "!"))
        #expect(delivery.content.body.literal == (isWhole ? "the whole of it" : "short"))
        #expect(delivery.stageFailures.map(\.stage) == (isThere == false ? ["offload"] : []))
        guard isWhole else { return }
        #expect(delivery.content.userInfo.text == json)
        #expect(reporter.reports.map(\.pushID) == ["9"])
    }
}
