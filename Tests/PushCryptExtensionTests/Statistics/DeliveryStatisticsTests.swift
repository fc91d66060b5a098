import PushCryptTestSupport
import Testing

@testable import PushCryptExtension

@Suite struct DeliveryStatisticsTests {
    private let folder: StoreFolder
    private let store: SharedStore
    private let now = StoreFolder.now
    private let kids = ["AAAAAAAAAAA", "BBBBBBBBBBA"].map { KeyID($0)! }

    init() throws {
        folder = try StoreFolder()
        store = folder.store()
    }

    @Test("restored pushes and each failure class of both processes are counted, with the last time and key")
    func counts() throws {
        #expect(try store.statistics() == DeliveryStatistics())
        store.count(.sample(nil, at: now, kid: kids[0]))
        folder.store(.app).count(.sample(nil, at: now + 5, kid: kids[1]))
        store.count(.sample(.unknownKey, at: now + 1, kid: kids[0]))
        store.count(.sample(.unknownKey, at: now + 2, kid: kids[1]))
        store.count(.sample(.malformed, at: now + 3))
        var expected = DeliveryStatistics()
        expected.opened = .init(count: 2, recentCount: 2, lastTime: now + 5, lastKid: kids[1])
        expected.failures = [
            .unknownKey: .init(count: 2, recentCount: 2, lastTime: now + 2, lastKid: kids[1]),
            .malformed: .init(count: 1, recentCount: 1, lastTime: now + 3),
        ]
        #expect(try store.statistics() == expected)
        #expect(try folder.store(.app).statistics() == expected)
    }

    @Test("failed stages are counted by name and ending, and a push restored without its attachment as both")
    func stages() throws {
        let failures = [StageFailure(stage: "name", ending: .failed), StageFailure(stage: "name", ending: .timedOut)]
        store.count(.sample(stageFailures: failures))
        store.count(.sample(.attachmentFailed, stageFailures: [failures[0]]))
        let statistics = try store.statistics()
        #expect(statistics.stageFailures.mapValues(\.count) == [failures[0]: 2, failures[1]: 1])
        #expect(statistics.opened?.count == 2 && statistics.failures.mapValues(\.count) == [.attachmentFailed: 1])
    }

    @Test("only a restored self-test sets the time of the last self-test")
    func selfTest() throws {
        store.count(.sample(.timedOut, at: now, isSelfTest: true))
        #expect(try store.statistics().lastSelfTest == nil)
        store.count(.sample(at: now + 1, isSelfTest: true))
        store.count(.sample(at: now + 2))
        #expect(try store.statistics().lastSelfTest == now + 1)
    }

    @Test("the number and length of custom names are limited, and the protocol's names are always counted")
    func bounds() throws {
        for number in 0..<50 {
            let name = "class-\(number)-" + String(repeating: "é", count: 1_000)
            store.count(
                .sample(
                    FailureClass(rawValue: name),
                    stageFailures: (0..<2).map { StageFailure(stage: "\($0)\(name)", ending: .failed) }))
        }
        store.count(.sample(.undecryptable))
        let statistics = try store.statistics()
        #expect(statistics.failures.count == 32 + 1 + 1)
        #expect(statistics.failures[.other]?.count == 50 - 32)
        #expect(statistics.failures[.undecryptable]?.count == 1)
        #expect(
            statistics.failures.keys.allSatisfy { $0.rawValue.utf8.count <= 64 && !$0.rawValue.contains("\u{fffd}") })
        #expect(statistics.stageFailures.count == 64 + 1)
        #expect(statistics.stageFailures.values.map(\.count).reduce(0, +) == 100)
    }

    @Test("a custom name that is already counted is still counted at the limit")
    func known() throws {
        for number in 0..<64 { store.count(.sample(FailureClass(rawValue: "class-\(number % 32)"))) }
        let statistics = try store.statistics()
        #expect(statistics.failures.count == 32 && statistics.failures.values.allSatisfy { $0.count == 2 })
    }

    @Test("reset keeps the times of self-test and advice and the shown messages")
    func reset() throws {
        #expect(try store.claim("a"))
        store.count(.sample(.timedOut, stageFailures: [StageFailure(stage: "name", ending: .failed)]))
        store.count(.sample(at: now + 1, isSelfTest: true))
        try store.adviceTaken(at: now + 2)
        try store.resetStatistics()
        var expected = DeliveryStatistics()
        (expected.lastSelfTest, expected.lastAdviceTaken) = (now + 1, now + 2)
        #expect(try store.statistics() == expected)
        #expect(try !store.claim("a"))
    }

    @Test("pushes counted before advice was taken are not recent")
    func advice() throws {
        for _ in 0..<3 { store.count(.sample(.undecryptable)) }
        try store.adviceTaken(at: now + 9)
        store.count(.sample(.undecryptable))
        let statistics = try store.statistics()
        let counter = try #require(statistics.failures[.undecryptable])
        #expect(counter.count == 4 && counter.recentCount == 1)
        #expect(statistics.lastAdviceTaken == now + 9)
    }
}
