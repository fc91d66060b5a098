import Dispatch
import PushCryptExtension
import PushCryptPrimitives
import PushCryptSimulator
import PushCryptTestSupport
import Testing

/// Sessions with stages that end, fail, hang and are cancelled while the session's time runs out. Run this suite with the
/// thread sanitizer too (`swift test --sanitize=thread`).
@Suite struct RaceTests {
    /// Keeps its thread busy for a random time, and then ends in a random way.
    private struct ChanceStage: ContentStage {
        let seed: UInt64

        var timeLimit: Duration? { seed.isMultiple(of: 3) ? .seconds(2) : nil }

        func process(_ content: NotificationContent, of push: OpenedPush) async throws -> NotificationContent {
            var random = SplitMix64(seed: seed)
            for _ in 0..<Int.random(in: 0..<4, using: &random) {
                Race.idle(Int.random(in: 0..<300, using: &random), &random)
                await Task.yield()
            }
            switch Int.random(in: 0..<5, using: &random) {
            case 0: throw ThrowingStage.Failure()
            case 1: try Task.checkCancellation()
            case 2: return NotificationContent()
            default: break
            }
            return try await SuffixStage(suffix: "+").process(content, of: push)
        }
    }

    private enum Race {
        static func idle(_ steps: Int, _ random: inout SplitMix64) {
            var sum: UInt64 = 0
            for _ in 0..<steps { sum &+= random.next() }
            withExtendedLifetime(sum) {}
        }
    }

    private static func session(_ random: inout SplitMix64, _ payload: [UInt8]) throws -> TestSession {
        var configuration = try ExtensionConfiguration.test()
        let stages = (0..<Int.random(in: 0..<4, using: &random)).map { _ in ChanceStage(seed: random.next()) }
        configuration.stages = stages
        if Bool.random(using: &random) { configuration.attachments = ChanceStage(seed: random.next()) }
        return try TestSession(payload: payload, key: "shared", configuration: configuration)
    }

    private static let sessionCount = LongTests.value(10_000, short: 1_000)

    @Test("each of 1,000 sessions (10,000 in the long form) with racing stages and deadlines calls its handler once")
    func racingSessions() async throws {
        var random = SplitMix64(seed: 4)
        let payload = try TestPush(key: "shared").sealed()
        var callCount = 0
        var timedOutCount = 0
        var restoredCount = 0
        for _ in 0..<Self.sessionCount {
            let session = try Self.session(&random, payload)
            session.releaseKeyring()
            // In one of four sessions only the stages end the session.
            let ends = Int.random(in: 0..<4, using: &random)
            let seeds = [random.next(), random.next(), random.next()]
            DispatchQueue.concurrentPerform(iterations: 3) { part in
                var random = SplitMix64(seed: seeds[part])
                Race.idle(Int.random(in: 0..<3_000, using: &random), &random)
                switch part {
                case 0: session.start()
                case 1: if ends != 0 { session.expire() }
                default:
                    session.timer.fire(.seconds(2))
                    if ends == 2 { session.timer.fire(.seconds(25)) }
                }
            }
            let deliveries = await session.finish()
            callCount += deliveries.count
            timedOutCount += deliveries.count { $0.failure == .timedOut }
            restoredCount += deliveries.count { $0.isRestored }
            #expect(deliveries.allSatisfy { $0.content.hasText })
        }
        #expect(callCount == Self.sessionCount)
        // Both outcomes must occur often; otherwise the test covers little.
        let limit = Self.sessionCount / 20
        #expect(timedOutCount > limit && restoredCount > limit, "\(timedOutCount) timed out, \(restoredCount) restored")
    }
}
