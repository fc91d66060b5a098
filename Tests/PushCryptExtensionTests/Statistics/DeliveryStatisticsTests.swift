import Foundation
import PushCryptSender
import PushCryptSimulator
import PushCryptTestSupport
import Testing

@testable import PushCryptExtension

@Suite struct DeliveryStatisticsTests {
    private let folder = StoreFolder()
    private var store: SharedStore { folder.first }
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

    @Test("only the version of the last extension is kept, with its pushes, and a reset keeps it")
    func lastRun() throws {
        func run(_ version: String?, _ time: UnixTime) {
            var report = DeliveryReport.sample(.malformed, at: time)
            report.version = version
            store.count(report)
        }
        run(nil, now)
        #expect(try store.statistics().lastRun == nil)
        for (second, version) in ["1.0 (1)", "1.1 (2)", "1.1 (2)"].enumerated() { run(version, now + Int64(second)) }
        run(nil, now + 9)
        try store.resetStatistics()
        #expect(try store.statistics().lastRun == .init(version: "1.1 (2)", count: 2, lastTime: now + 2))
        #expect(try store.statistics().failures.isEmpty)
        run("", now + 10)
        #expect(try store.statistics().lastRun == .init(version: "", count: 1, lastTime: now + 10))
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

@Suite struct DeviceReportTests {
    private static let now = TestPush.now

    private func report(
        _ keys: any DeviceKeyStorage, senders: SenderTrust = .unsigned, store: SharedStore? = nil
    ) throws -> JSONValue {
        let report = DeviceReport(topic: TestPush.topic, keys: keys, senders: senders, store: store, at: Self.now)
        let json = try report.json()
        #expect(try DeviceReport(json: json) == report)
        return try JSONText(Array(json)).root
    }

    @Test("a report lists the keys by id with suite, psk and state, and a damaged key as damaged")
    func keys() throws {
        let place = TestKeyring()
        let old = try place.register()
        let new = try place.identity(.init(suite: .x25519, withPSK: false)).rotate()
        let damaged = try #require(KeyID("AAAAAAAAAAA"))
        try place.write("{}", as: damaged)
        let keys = try #require(try report(place.keyring)["keys"]).elements
        func key(_ kid: KeyID) throws -> String {
            let key = try #require(keys.first { $0["kid"]?.string == kid.description })
            return ["suite", "hasPSK", "state"].map { name in
                key[name].map { String(decoding: $0.rawBytes, as: UTF8.self) } ?? "-"
            }.joined(separator: " ")
        }
        #expect(keys.count == 3)
        #expect(try key(old.kid) == #"1 true "primary""#)
        #expect(try key(new.kid) == #"2 false "pending""#)
        #expect(try key(damaged) == #"- false "damaged""#)
    }

    @Test("keys and a store that can't be reached are named as errors")
    func errors() throws {
        let folder = try TemporaryFolder()
        let file = folder.file("file")
        try Data().write(to: file)
        let report = try report(
            FileKeyring(folder: file.path), store: SharedStore(folder: folder.path + "/none/none", role: .app))
        #expect(report["keyStorage"]?["error"]?.string == "insecure" && report["keys"] == nil)
        #expect(report["store"]?["error"]?.string == "unavailable" && report["statistics"] == nil)
    }

    @Test("the report of an app without its app group names the failure for keys and store")
    func unavailable() throws {
        let report = DeviceReport(topic: "a.b", unavailable: "notEntitled", reason: "no group", at: Self.now)
        let root = try JSONText(Array(report.json())).root
        for name in ["keyStorage", "store"] { #expect(root[name]?["error"]?.string == "notEntitled") }
    }

    @Test("unsigned, pinned and unreadable senders are distinguished, and a revoked sender is listed as refused")
    func senders() throws {
        let keyring = TestKeyring().keyring
        #expect(try report(keyring)["senders"]?["unsigned"]?.boolean == true)
        let folder = try TemporaryFolder()
        let pins = try SenderPins(folder: folder.path + "/pins", publishers: .test(), topic: TestPush.topic)
        #expect(try report(keyring, senders: .pinned(pins))["senders"]?["error"]?.string == "unknownKey")
        let set = TestSenderSet(keys: [("sender", .always), ("other sender", .revoked(at: Self.now))], sequence: 7)
        try pins.accept(set.document(), at: Self.now)
        let senders = try #require(try report(keyring, senders: .pinned(pins))["senders"])
        let (kid, revoked) = try (TestKeys.sender("sender").kid, TestKeys.sender("other sender").kid)
        #expect(senders["kids"]?.elements.map(\.string) == [kid.description])
        #expect(senders["refused"]?[revoked.description]?.string == "keyRevoked")
        #expect(senders["sequence"]?.protocolInteger == 7)
    }

    @Test("the counters of real deliveries are in the report, which contains neither a secret nor the text")
    func counters() async throws {
        let phone = try await TestDevice(topic: TestPush.topic)
        let other = try await TestDevice(topic: TestPush.topic)
        let sealer = try Sealer(topic: TestPush.topic)
        for record in [phone.registration, other.registration] {
            let push = try sealer.seal(
                PushNotification(title: "Zoë"), to: Recipient(jwk: record), placeholder: .standard)
            _ = await phone.receive(push.json)
        }
        let json = try phone.report.json()
        let statistics = try #require(try JSONText(Array(json)).root["statistics"])
        #expect(statistics["opened"]?["count"]?.protocolInteger == 1)
        #expect(statistics["failures"]?["unknownKey"]?["count"]?.protocolInteger == 1)
        let kid = try JSONText(Array(other.registration)).root["kid"]?.string
        #expect(statistics["failures"]?["unknownKey"]?["lastKid"]?.string == kid)
        let psk = try #require(try JSONText(Array(phone.registration)).root["psk"]?.string)
        let text = String(decoding: json, as: UTF8.self)
        #expect(!text.contains(psk) && !text.contains("Zoë"))
    }
}
