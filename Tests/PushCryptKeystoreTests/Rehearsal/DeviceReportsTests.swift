import PushCryptCore
import PushCryptKeysets
import PushCryptKeystore
import Testing

@Suite("DeviceReports") struct DeviceReportsTests {
    private static let now = UnixTime(1_772_355_600)
    private static let (old, primary, next) = ("AAAAAAAAAAA", "AAAAAAAAAAE", "AAAAAAAAAAI")

    /// A retiring key, the primary, and a pending one that waits for `promote`.
    private static let timeline = KeyTimeline([
        key(old, created: -100, activates: -90), key(primary, created: -20, activates: -10),
        key(next, created: -5, activates: nil),
    ])

    private static func key(_ kid: String, created: Int64?, activates: Int64?) -> KeyTimeline.Key {
        KeyTimeline.Key(
            KeyID(kid)!,
            KeyLifecycle(createdAt: created.map { now + $0 * day }, activatesAt: activates.map { now + $0 * day }))
    }

    private static func line(_ device: String, _ kid: String, _ secondsAgo: Int64 = 0) -> [UInt8] {
        Array(#"{"device": "\#(device)", "kid": "\#(kid)", "seenAt": "\#(now - secondsAgo)"}"#.utf8)
    }

    private static func reports(_ lines: [[UInt8]]) throws -> DeviceReports {
        var reports = DeviceReports()
        for line in lines { try reports.add(line: line) }
        return reports
    }

    /// The keys, the newest key of each device, and how many devices have each key.
    private static let holders: [(String, KeyTimeline, [String], [String: Int])] = [
        (
            "a device has its newest key and all earlier ones", timeline, [old, primary, primary, next, next, next],
            [old: 6, primary: 5, next: 3, "AAAAAAAAAAQ": 0]
        ),
        // The primary was compromised and replaced at once, after the pending key was published: a device that reports
        // the pending key may have fetched it before the new primary was there.
        (
            "a device that reports a pending key doesn't count as having a primary that was made later",
            KeyTimeline([key(next, created: -5, activates: nil), key(primary, created: -1, activates: -1)]),
            [next, primary], [primary: 1, next: 1]
        ),
        (
            "without createdAt, keys are ordered by activatesAt",
            KeyTimeline([key(primary, created: nil, activates: -10), key(old, created: nil, activates: -90)]),
            [old, primary], [old: 2, primary: 1]
        ),
    ]

    @Test("a device has the keys that were published before its newest one", arguments: holders)
    func order(_ name: String, _ timeline: KeyTimeline, _ newest: [String], _ holders: [String: Int]) throws {
        let summary = try Self.reports(newest.enumerated().map { Self.line("d\($0)", $1) })
            .summary(in: timeline, at: Self.now)
        for (kid, count) in holders { #expect(summary.holding(KeyID(kid)!, in: timeline) == count, "\(kid)") }
    }

    @Test("the newest report of a device counts, in any order of the lines", arguments: [false, true])
    func newest(_ reversed: Bool) throws {
        let lines = [
            Self.line("one", Self.old, 300), Self.line("one", Self.next, 100), Self.line("one", Self.primary, 200),
        ]
        let reports = try Self.reports(reversed ? lines.reversed() : lines)
        #expect(reports.summary(in: Self.timeline, at: Self.now).newest == [KeyID(Self.next)!: 1])
    }

    @Test func `devices not seen for 30 days and reports from the future don't count`() throws {
        let month = 30 * day
        let reports = try Self.reports([
            Self.line("a", Self.primary, month), Self.line("b", Self.primary, month + 1),
            Self.line("c", Self.primary, -600), Self.line("d", Self.primary, -601),
            Self.line("e", "AAAAAAAAAAQ"),
        ])
        let summary = reports.summary(in: Self.timeline, at: Self.now)
        #expect(summary.seen == 3 && summary.unseen == 1 && summary.ahead == 1 && summary.unknown == 1)
        #expect(summary.holding(KeyID(Self.primary)!, in: Self.timeline) == 2)
    }

    @Test func `coverage is computed for the time of the keyset's last change if the clock is earlier`() throws {
        let reports = try Self.reports([Self.line("a", Self.primary)])
        let late = KeyTimeline(Self.timeline.keys, updatedAt: Self.now + 31 * day)
        #expect(reports.summary(in: late, at: Self.now).unseen == 1)
    }

    @Test(
        "the share of devices is compared exactly",
        arguments: [
            ("99.9", 999, 1_000, true), ("99.9", 998, 1_000, false), ("99.9", 9_989, 10_000, false),
            ("100", 999_999, 1_000_000, false), ("100", 1_000_000, 1_000_000, true), ("0", 0, 1, true),
            ("0", 0, 0, false), ("99.999", 99_999, 100_000, true), ("99.999", 99_998, 100_000, false),
            ("33.333", 1, 3, true), ("33.334", 1, 3, false),
        ])
    func required(_ required: String, _ holding: Int, _ seen: Int, _ isMet: Bool) throws {
        let coverage = try #require(RotationPolicy.Coverage(required))
        #expect(coverage.isMet(holding: holding, seen: seen) == isMet)
    }

    @Test func `blank lines, CRLF and unknown members are accepted`() throws {
        let lines = [
            "", #"{"device":"a","kid":"AAAAAAAAAAE","seenAt":"2026-03-01T09:00:00Z","app":{"v":[1]}}"# + "\r", " \t",
        ]
        #expect(try Self.reports(lines.map { Array($0.utf8) }).summary(in: Self.timeline, at: Self.now).seen == 1)
    }

    @Test(
        "an invalid line is refused with its number and its flaw",
        arguments: [
            (#"{"#, "not strict JSON"), ("[]", "not an object"), (#"{"a":1,"a":2}"#, "a name occurs twice"),
            (#"{"kid":"AAAAAAAAAAE","seenAt":"2026-03-01T09:00:00Z"}"#, "device is missing"),
            (#"{"device":"a b","kid":"AAAAAAAAAAE","seenAt":"2026-03-01T09:00:00Z"}"#, "device is missing"),
            (#"{"device":7,"kid":"AAAAAAAAAAE","seenAt":"2026-03-01T09:00:00Z"}"#, "device is missing"),
            (#"{"device":"a","seenAt":"2026-03-01T09:00:00Z"}"#, "kid is missing"),
            (#"{"device":"a","kid":"AAAAAAAAAAB","seenAt":"2026-03-01T09:00:00Z"}"#, "kid is missing"),
            (#"{"device":"a","kid":"AAAAAAAAAAE"}"#, "seenAt is missing"),
            (#"{"device":"a","kid":"AAAAAAAAAAE","seenAt":1772355600}"#, "seenAt is missing"),
            (#"{"device":"a","kid":"AAAAAAAAAAE","seenAt":"2026-02-29T09:00:00Z"}"#, "seenAt is missing"),
        ])
    func badLines(_ line: String, _ reason: String) {
        let lines = [Self.line("a", Self.old), [], Array(line.utf8), Self.line("b", Self.old)]
        let error = #expect(throws: KeystoreError.self) { try Self.reports(lines) }
        #expect(error?.code == .malformedReport)
        #expect(error?.reason.hasPrefix("line 3: ") == true)
        #expect(error?.reason.contains(reason) == true, "\(error?.reason ?? "")")
    }
}
