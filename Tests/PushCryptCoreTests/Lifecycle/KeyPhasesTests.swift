import PushCryptTestSupport
import Testing

@testable import PushCryptCore

@Suite struct KeyPhasesTests {
    @Test("a destroyed key has the phases from pending to destroyed")
    func aWholeLife() throws {
        var life = KeyLifecycle.at(100, created: 50, retires: 200, expires: 300)
        life.destroyedAt = UnixTime(400)
        try expect(
            [life],
            [
                [
                    ("pending", 50, 100), ("primary", 100, 200), ("retiring", 200, 300), ("expired", 300, 400),
                    ("destroyed", 400, nil),
                ]
            ])
    }

    @Test("a key without times is pending without start and end")
    func ofAKeyWithoutTimes() throws {
        try expect([.at(nil)], [[("pending", nil, nil)]])
    }

    @Test("a key without createdAt has a first phase without a start")
    func withoutACreationTime() throws {
        try expect([.at(100, retires: 200)], [[("pending", nil, 100), ("primary", 100, 200), ("retiring", 200, nil)]])
    }

    @Test("a key with a greater activatesAt becomes the primary even if the other one has no end")
    func aSuccessorTakesOver() throws {
        try expect(
            [.at(100, created: 100), .at(200, created: 150)],
            [
                [("primary", 100, 200), ("retiring", 200, nil)],
                [("pending", 150, 200), ("primary", 200, nil)],
            ])
    }

    @Test("a key retires while a successor with precedence seals and then seals again")
    func sealsAgain() throws {
        try expect(
            [.at(100, created: 100), .at(200, created: 150, retires: 300, expires: 400)],
            [
                [("primary", 100, 200), ("retiring", 200, 300), ("primary", 300, nil)],
                [("pending", 150, 200), ("primary", 200, 300), ("retiring", 300, 400), ("expired", 400, nil)],
            ])
    }

    @Test("a key changes the phases of others only from its creation on")
    func aSuccessorOfEarlierTimesThatCameLater() throws {
        try expect(
            [.at(100, created: 100, expires: 500), .at(200, created: 300)],
            [
                [("primary", 100, 300), ("retiring", 300, 500), ("expired", 500, nil)],
                [("primary", 300, nil)],
            ])
    }

    @Test("a revoked key has no phase after revoked")
    func revoked() throws {
        try expect(
            [.at(100, created: 50, expires: 400, revoked: 150), .at(nil, created: 60, revoked: 70)],
            [
                [("pending", 50, 100), ("primary", 100, 150), ("revoked", 150, nil)],
                [("pending", 60, 70), ("revoked", 70, nil)],
            ])
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

    private func expect(
        _ sample: [KeyLifecycle], _ wanted: [[(String, Int64?, Int64?)]],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let timeline = try TestKeysets.keyset(sample).timeline
        let phases = timeline.phases().map { phases in
            phases.map { "\($0.state) \($0.start?.seconds ?? -1) \($0.end?.seconds ?? -1)" }
        }
        #expect(
            phases == wanted.map { $0.map { "\($0) \($1 ?? -1) \($2 ?? -1)" } }, sourceLocation: sourceLocation)
    }
}
