import PushCryptTestSupport
import Testing

@testable import PushCryptExtension

@Suite struct DeliveryStatisticsTests {
    private let (folder, store) = StoreFolder.withStore()
    private let now = StoreFolder.now
    private let kids = ["AAAAAAAAAAA", "BBBBBBBBBBA"].map { KeyID($0)! }

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

@Suite struct RecoveryAdviceTests {
    private static let now = StoreFolder.now
    private static let own = KeyID("AAAAAAAAAAA")!
    private static let foreign = KeyID("BBBBBBBBBBA")!

    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// The class, count, recent count and last kid; the last time is 9 seconds ago.
        let failures: [(FailureClass, Int, Int, KeyID?)]
        /// Relative to now.
        let opened: Int64?
        let taken: Int64?
        let steps: [RecoveryAdvice.Step]

        init(
            _ name: String, _ failures: [(FailureClass, Int, Int, KeyID?)], opened: Int64? = nil,
            taken: Int64? = nil, _ steps: [RecoveryAdvice.Step]
        ) {
            (testDescription, self.failures, self.steps) = (name, failures, steps)
            (self.opened, self.taken) = (opened, taken)
        }
    }

    static let cases: [Case] =
        [
            Case("no counters", [], []), Case("only restored pushes", [], opened: -5, []),
            Case("the device's key is unknown", [(.unknownKey, 1, 1, foreign)], [.registerKey]),
            Case("the sender's key is unknown", [(.unknownKey, 1, 1, own)], [.updateSenderKeys]),
            Case("the device's key expired", [(.keyExpired, 1, 1, foreign)], [.registerKey]),
            Case("the sender's key expired", [(.keyExpired, 1, 1, own)], [.updateSenderKeys]),
            Case("the device's key was revoked", [(.keyRevoked, 1, 1, foreign)], [.registerKey]),
            Case("the sender's key was revoked", [(.keyRevoked, 1, 1, own)], [.updateSenderKeys]),
            Case("unknown key without a kid", [(.unknownKey, 1, 1, nil)], [.registerKey]),
            Case("a suite that the system doesn't have", [(.unsupportedSuite, 1, 1, foreign)], [.registerKey]),
            Case("undecryptable twice", [(.undecryptable, 9, 2, own)], []),
            Case("undecryptable three times", [(.undecryptable, 9, 3, own)], [.registerKey]),
            Case("unsupported version", [(.unsupportedVersion, 1, 1, nil)], [.updateApp]),
            Case("key locked", [(.keyLocked, 1, 1, own)], [.unlock]),
            Case(
                "all steps at once",
                [
                    (.keyLocked, 1, 1, own), (.unsupportedVersion, 1, 1, own), (.keyExpired, 1, 1, own),
                    (.unknownKey, 1, 1, foreign),
                ], [.registerKey, .updateSenderKeys, .updateApp, .unlock]),
            Case("restored after it", [(.unknownKey, 1, 1, foreign), (.keyLocked, 1, 1, own)], opened: -8, []),
            Case("restored in the same second", [(.unknownKey, 1, 1, foreign)], opened: -9, [.registerKey]),
            Case("restored before it", [(.unknownKey, 1, 1, foreign)], opened: -10, [.registerKey]),
            Case("no failure since advice", [(.unknownKey, 5, 0, foreign)], taken: -200_000, []),
            Case("advice a day ago", [(.unknownKey, 5, 1, foreign)], taken: -86_400, [.registerKey]),
            Case("advice less than a day ago", [(.unknownKey, 5, 1, foreign)], taken: -86_399, []),
            Case(
                "key locked, and advice taken now", [(.keyLocked, 1, 1, own), (.unknownKey, 1, 1, foreign)], taken: 0,
                [.unlock]),
            Case("advice less than a day in the future", [(.unknownKey, 5, 1, foreign)], taken: 86_399, []),
            Case("advice a day in the future", [(.unknownKey, 5, 1, foreign)], taken: 86_400, [.registerKey]),
            Case("advice at the least time", [(.unknownKey, 5, 1, foreign)], taken: .min, [.registerKey]),
        ]
        + ([
            .notSealed, .malformed, .expired, .notYetValid, .replayed, .timedOut, .attachmentFailed, .internalError,
            .other,
        ] as [FailureClass]).map { Case("\($0) 99 times", [($0, 99, 99, foreign)], []) }

    @Test("counters lead to the steps of the protocol's table", arguments: cases)
    func steps(_ item: Case) {
        var statistics = DeliveryStatistics()
        statistics.lastAdviceTaken = item.taken.map { $0 == .min ? UnixTime($0) : Self.now + $0 }
        statistics.opened = item.opened.map { .init(count: 1, recentCount: 1, lastTime: Self.now + $0) }
        for (failure, count, recent, kid) in item.failures {
            statistics.failures[failure] = .init(
                count: count, recentCount: recent, lastTime: Self.now - 9, lastKid: kid)
        }
        #expect(RecoveryAdvice.steps(for: statistics, keys: [Self.own], at: Self.now) == item.steps)
    }

    @Test("with a real store, any number of failed pushes leads to advice once a day")
    func daily() throws {
        let folder = StoreFolder()
        let store = folder.store()
        var days: [Int64] = []
        for hour in 0..<72 as Range<Int64> {
            let time = Self.now + hour * 3_600
            store.count(.sample(.unknownKey, at: time, kid: Self.foreign))
            if RecoveryAdvice.steps(for: try store.statistics(), keys: [Self.own], at: time) == [.registerKey] {
                days.append(hour)
                try store.adviceTaken(at: time)
            }
        }
        #expect(days == [0, 24, 48])
    }
}
