import PushCryptTestSupport
import Testing

@testable import PushCryptExtension

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
        let folder = try StoreFolder()
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
