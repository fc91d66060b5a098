import PushCryptTestSupport
import Testing

@testable import PushCryptCore

/// The states of a whole rotation at every second around each of its moments.
@Suite struct KeyTimelineTests {
    private static let names = ["AAAAAAAAAAA", "BBBBBBBBBBA", "CCCCCCCCCCA"]

    private static func kid(_ index: Int) throws -> KeyID { try #require(KeyID(names[index])) }

    private func timeline(_ lifecycles: [KeyLifecycle], updatedAt: Int64? = nil) throws -> KeyTimeline {
        let keys = try lifecycles.enumerated().map { KeyTimeline.Key(try Self.kid($0), $1) }
        return KeyTimeline(keys, updatedAt: updatedAt.map { UnixTime($0) })
    }

    private func states(_ timeline: KeyTimeline, at seconds: Int64) -> String {
        timeline.keys.map { timeline.state(of: $0.kid, at: UnixTime(seconds))?.description ?? "-" }
            .joined(separator: " ")
    }

    /// A seals until 100, B until 200, C from then on; A opens until 150, B until 300 and is revoked at 250.
    private static let rotation: [KeyLifecycle] = [
        .at(0, created: -10, retires: 100, expires: 150),
        .at(100, created: 60, retires: 200, expires: 300, revoked: 250),
        .at(200, created: 160),
    ]

    @Test(
        "each key changes its state in the second of its timestamp",
        arguments: [
            (-1, "pending pending pending"), (0, "primary pending pending"), (1, "primary pending pending"),
            (99, "primary pending pending"), (100, "retiring primary pending"), (101, "retiring primary pending"),
            (149, "retiring primary pending"), (150, "expired primary pending"), (199, "expired primary pending"),
            (200, "expired retiring primary"), (249, "expired retiring primary"), (250, "expired revoked primary"),
            (300, "expired revoked primary"), (Int64.max, "expired revoked primary"),
            (Int64.min, "pending pending pending"),
        ])
    func everyBoundary(seconds: Int64, expected: String) throws {
        #expect(states(try timeline(Self.rotation), at: seconds) == expected)
    }

    @Test(
        "a time before the last write has the states of the last write",
        arguments: [
            (0, "retiring primary pending"), (Int64.min, "retiring primary pending"), (99, "retiring primary pending"),
            (120, "retiring primary pending"), (121, "retiring primary pending"), (150, "expired primary pending"),
            (200, "expired retiring primary"),
        ])
    func noEarlierThanTheLastWrite(clock: Int64, expected: String) throws {
        let timeline = try timeline(Self.rotation, updatedAt: 120)
        #expect(states(timeline, at: clock) == expected)
        #expect(timeline.effective(UnixTime(clock)) == UnixTime(max(clock, 120)))
    }

    @Test("a single key that doesn't seal has the state of its timestamps")
    func everyStateAlone() throws {
        let cases: [(KeyLifecycle, KeyState)] = [
            (.at(nil), .pending), (.at(nil, created: 5), .pending), (.at(nil, retires: 11), .pending),
            (.at(nil, retires: 10), .retiring), (.at(11, retires: 10), .retiring), (.at(11, expires: 10), .expired),
            (KeyLifecycle(activatesAt: UnixTime(0), destroyedAt: UnixTime(99)), .destroyed),
            (KeyLifecycle(revokedAt: UnixTime(0), destroyedAt: UnixTime(0)), .destroyed),
        ]
        for (lifecycle, state) in cases {
            let timeline = try timeline([lifecycle])
            #expect(timeline.state(of: try Self.kid(0), at: UnixTime(10)) == state, "\(lifecycle)")
            #expect(timeline.primary(at: UnixTime(10)) == nil)
        }
    }

    @Test("states have growing ranks, and those before expired open")
    func ranks() {
        let life: [KeyState] = [.pending, .primary, .retiring, .expired, .revoked, .destroyed]
        #expect(life.map(\.rank) == life.map(\.rank).sorted())
        #expect(Set(life.map(\.rank)).count == life.count)
        #expect(life.map(\.opens) == [true, true, true, false, false, false])
    }

    @Test("the published times alone determine the primary")
    func publishedTimesAlone() throws {
        let whole = try timeline(Self.rotation, updatedAt: 0)
        var published = whole
        published.updatedAt = nil
        for index in published.keys.indices { published.keys[index].lifecycle.createdAt = nil }
        for second in 0...320 {
            let time = UnixTime(Int64(second))
            #expect(published.primary(at: time)?.kid == whole.primary(at: time)?.kid)
            #expect(states(published, at: time.seconds) == states(whole, at: time.seconds))
        }
    }

    @Test("lookups find keys by id and by state")
    func lookups() throws {
        let timeline = try timeline(Self.rotation)
        let now = UnixTime(120)
        #expect(timeline.keys(in: .retiring, .pending, at: now).map(\.kid) == [try Self.kid(0), try Self.kid(2)])
        #expect(timeline.keys(in: .destroyed, at: now).isEmpty)
        #expect(timeline.key(try Self.kid(1))?.lifecycle == Self.rotation[1])
        let stranger = try #require(KeyID("DDDDDDDDDDA"))
        #expect(timeline.key(stranger) == nil)
        #expect(timeline.state(of: stranger, at: now) == nil)
    }

    @Test("keys are ordered by activatesAt, createdAt and id")
    func rank() throws {
        let early = KeyTimeline.Key(try Self.kid(2), .at(1, created: 9))
        let late = KeyTimeline.Key(try Self.kid(0), .at(2, created: 1))
        let same = KeyTimeline.Key(try Self.kid(1), .at(2, created: 1))
        let never = KeyTimeline.Key(try Self.kid(2), .at(nil, created: 100))
        #expect([late, same, early, never].sorted { $0.rank < $1.rank } == [never, early, late, same])
    }
}
