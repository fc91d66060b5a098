import PushCryptTestSupport
import Testing

@testable import PushCryptCore

/// `KeysetVectorTests` and `KeysetStateTests` have the states around each moment.
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

    @Test("the earliest and the latest possible clock give states")
    func extremeClocks() throws {
        let timeline = try timeline(Self.rotation)
        #expect(states(timeline, at: .min) == "pending pending pending")
        #expect(states(timeline, at: .max) == "expired revoked primary")
    }

    @Test("a destroyed key is destroyed, whatever its other times are")
    func destroyed() throws {
        for (activates, revoked) in [(0, nil), (nil, 0)] as [(Int64?, Int64?)] {
            var lifecycle = KeyLifecycle.at(activates, revoked: revoked)
            lifecycle.destroyedAt = UnixTime(99)
            let timeline = try timeline([lifecycle])
            #expect(timeline.state(of: try Self.kid(0), at: UnixTime(10)) == .destroyed)
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
        let written = try self.timeline(Self.rotation, updatedAt: 120)
        #expect([0, 119, 120, 121].map { written.effective(UnixTime($0)).seconds } == [120, 120, 120, 121])
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

/// The range of time in which all states stay the same.
@Suite("KeyTimeline.span") struct KeyTimelineSpanTests {
    @Test("all states are the same at every time of a span", arguments: 0..<LongTests.value(60, short: 20))
    func everySecond(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let lifecycles = (0..<3).map { _ -> KeyLifecycle in
            func moment() -> Int64? {
                Int.random(in: 0..<3, using: &random) == 0 ? nil : .random(in: 0..<60, using: &random)
            }
            return .at(moment(), retires: moment(), expires: moment(), revoked: moment())
        }
        let updatedAt = Bool.random(using: &random) ? Int64.random(in: 0..<60, using: &random) : nil
        let timeline = try TestKeysets.keyset(lifecycles, updatedAt: updatedAt).timeline
        func states(_ time: Int64) -> [KeyState?] {
            timeline.keys.map { timeline.state(of: $0.kid, at: UnixTime(time)) }
        }
        for time in Int64(-5)...65 {
            let span = timeline.span(around: UnixTime(time))
            #expect(span.contains(UnixTime(time)))
            for other in max(span.lowerBound.seconds, -5)..<min(span.upperBound.seconds, 65) {
                #expect(states(other) == states(time), "\(time) and \(other)")
                #expect(timeline.primary(at: UnixTime(other)) == timeline.primary(at: UnixTime(time)))
            }
        }
    }

    @Test("a span ends when the next key begins to seal")
    func endsWhereTheNextKeyBegins() throws {
        let timeline = try TestKeysets.keyset([.at(10, retires: 50), .at(50)], updatedAt: 20).timeline
        #expect(timeline.span(around: UnixTime(30)) == UnixTime(.min)..<UnixTime(50))
        #expect(timeline.span(around: UnixTime(49)).upperBound == UnixTime(50))
        #expect(timeline.span(around: UnixTime(50)) == UnixTime(50)..<UnixTime(.max))
    }

    @Test("a time before the last write has the span of the last write")
    func beginsWithTheLastWrite() throws {
        let timeline = try TestKeysets.keyset([.at(10, retires: 50), .at(50)], updatedAt: 60).timeline
        #expect(timeline.span(around: UnixTime(5)) == UnixTime(.min)..<UnixTime(.max))
        let unwritten = try TestKeysets.keyset([.at(10)]).timeline
        #expect(unwritten.span(around: UnixTime(5)) == UnixTime(.min)..<UnixTime(10))
        #expect(unwritten.span(around: UnixTime(10)) == UnixTime(10)..<UnixTime(.max))
    }
}

@Suite struct KeyPhasesTests {
    @Test(
        "the phases of keys begin and end with their states",
        arguments: [
            (
                "a whole life",
                [
                    KeyLifecycle(
                        createdAt: UnixTime(50), activatesAt: UnixTime(100), retiresAt: UnixTime(200),
                        expiresAt: UnixTime(300), destroyedAt: UnixTime(400))
                ], ["pending 50 100, primary 100 200, retiring 200 300, expired 300 400, destroyed 400 -"]
            ),
            ("a key without times", [.at(nil)], ["pending - -"]),
            ("no createdAt", [.at(100, retires: 200)], ["pending - 100, primary 100 200, retiring 200 -"]),
            (
                "a successor takes over from a key without an end",
                [.at(100, created: 100), .at(200, created: 150)],
                ["primary 100 200, retiring 200 -", "pending 150 200, primary 200 -"]
            ),
            (
                "a key seals again after its successor",
                [.at(100, created: 100), .at(200, created: 150, retires: 300, expires: 400)],
                [
                    "primary 100 200, retiring 200 300, primary 300 -",
                    "pending 150 200, primary 200 300, retiring 300 400, expired 400 -",
                ]
            ),
            (
                "a key changes the phases of others only from its creation on",
                [.at(100, created: 100, expires: 500), .at(200, created: 300)],
                ["primary 100 300, retiring 300 500, expired 500 -", "primary 300 -"]
            ),
            (
                "a revoked key has no later phase",
                [.at(100, created: 50, expires: 400, revoked: 150), .at(nil, created: 60, revoked: 70)],
                ["pending 50 100, primary 100 150, revoked 150 -", "pending 60 70, revoked 70 -"]
            ),
        ] as [(name: String, lifecycles: [KeyLifecycle], lines: [String])])
    func phases(key: (name: String, lifecycles: [KeyLifecycle], lines: [String])) throws {
        func text(_ time: UnixTime?) -> String { time.map { "\($0.seconds)" } ?? "-" }
        let phases = try TestKeysets.keyset(key.lifecycles).timeline.phases().map { phases in
            phases.map { "\($0.state) \(text($0.start)) \(text($0.end))" }.joined(separator: ", ")
        }
        #expect(phases == key.lines)
    }

    @Test("at every time the phase of a key is its state", arguments: UInt64(0)..<40)
    func agreeWithStates(_ seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let sample = (0..<Int(random.next() % 5) + 1).map { _ in
            func time() -> Int64? { random.next() % 3 == 0 ? nil : Int64(random.next() % 40) }
            return KeyLifecycle.at(time(), retires: time(), expires: time(), revoked: time())
        }
        let timeline = try TestKeysets.keyset(sample).timeline
        let phases = timeline.phases()
        for (key, phases) in zip(timeline.keys, phases) {
            for seconds in Int64(-1)...41 {
                let now = UnixTime(seconds)
                #expect(phases.filter { $0.contains(now) }.map(\.state) == [timeline.state(of: key.kid, at: now)])
            }
            #expect(zip(phases, phases.dropFirst()).allSatisfy { $0.end == $1.start && $0.state != $1.state })
            #expect(phases.first?.start == nil && phases.last?.end == nil)
        }
    }
}
