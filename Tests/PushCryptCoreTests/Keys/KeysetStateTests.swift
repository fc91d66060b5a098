import PushCryptTestSupport
import Testing

@testable import PushCryptCore

@Suite struct KeysetStateTests {
    private static let now: Int64 = 1_000

    /// One key alone in its set at the time 1000.
    private static let cases: [(KeyLifecycle, KeyState)] = [
        (.at(nil), .pending), (.at(1_001), .pending), (.at(1_000), .primary), (.at(999), .primary), (.at(0), .primary),
        (.at(1_001, retires: 1_002, expires: 1_003), .pending), (.at(0, retires: 1_001), .primary),
        (.at(0, retires: 1_000), .retiring), (.at(0, retires: 999), .retiring), (.at(1_000, retires: 1_000), .retiring),
        (.at(0, retires: 500, expires: 1_001), .retiring), (.at(0, retires: 500, expires: 1_000), .expired),
        (.at(0, retires: 500, expires: 999), .expired), (.at(0, expires: 1_000), .expired),
        (.at(0, expires: 1_001), .primary), (.at(nil, expires: 1_000), .expired), (.at(0, revoked: 1_001), .primary),
        (.at(0, revoked: 1_000), .revoked), (.at(0, revoked: 0), .revoked), (.at(nil, revoked: 1_000), .revoked),
        (.at(2_000, revoked: 999), .revoked), (.at(0, retires: 500, revoked: 1_000), .revoked),
        (.at(0, retires: 500, expires: 600, revoked: 1_000), .revoked),
        (.at(0, retires: 500, expires: 600, revoked: 1_001), .expired), (.at(nil, created: 5), .pending),
        (.at(nil, retires: 1_001), .pending), (.at(nil, retires: 1_000), .retiring),
        (.at(1_001, retires: 1_000), .retiring), (.at(1_001, expires: 1_000), .expired),
    ]

    @Test("a key has the state of its timestamps, in which it opens and seals or doesn't", arguments: cases)
    func state(lifecycle: KeyLifecycle, state: KeyState) throws {
        let keyset = try TestKeysets.keyset([lifecycle])
        let (kid, now) = (keyset.keyIDs[0], UnixTime(Self.now))
        #expect(keyset.state(of: kid, at: now) == state)
        let failure: FailureClass? =
            switch state {
            case .expired: .keyExpired
            case .revoked: .keyRevoked
            default: nil
            }
        do throws(FailureClass) {
            #expect(try keyset.openingEntry(kid, at: now).record.kid == kid && failure == nil)
        } catch {
            #expect(error == failure)
        }
        if state == .primary {
            #expect(keyset.primary(at: now) != nil)
            #expect(try keyset.recipient(at: now).kid == kid)
        } else {
            #expect(keyset.primary(at: now) == nil)
            expectKeyError(.noKeySeals) { try keyset.recipient(at: now) }
        }
        // A clock before the last write doesn't change the states.
        let written = try TestKeysets.keyset([lifecycle], updatedAt: Self.now)
        for clock in [Int64.min / 2, 0, 500, 999, 1_000] {
            #expect(written.state(of: kid, at: UnixTime(clock)) == state, "\(clock)")
        }
    }

    @Test("a key that isn't in the set has no state and isn't found")
    func unknownKey() throws {
        let keyset = try TestKeysets.keyset([.at(0)])
        let stranger = try TestKeysets.record(99).kid
        #expect(keyset.state(of: stranger, at: UnixTime(0)) == nil)
        #expect(throws: FailureClass.unknownKey) { try keyset.openingEntry(stranger, at: UnixTime(0)) }
    }
}

/// Which of several keys seals. The keys are in the order of their kids.
@Suite struct KeysetPrimaryTests {
    @Test(
        "the primary is the sealing key with the greatest times and id",
        arguments: [
            ("the one activated last", [.at(10), .at(30), .at(20)], 1),
            ("one that activates now", [.at(999), .at(1_000), .at(1_001)], 1),
            ("a pending key is passed over", [.at(10), .at(2_000), .at(nil)], 0),
            ("a retired key is passed over", [.at(10), .at(30, retires: 1_000), .at(20)], 2),
            ("an expired key is passed over", [.at(10), .at(30, expires: 1_000)], 0),
            ("a revoked key is passed over", [.at(10), .at(30, revoked: 1_000)], 0),
            ("a revocation to come", [.at(10), .at(30, revoked: 1_001)], 1),
            ("same activation, created last", [.at(10, created: 1), .at(10, created: 3), .at(10, created: 2)], 1),
            ("a creation time before none", [.at(10, created: -5), .at(10), .at(10)], 0),
            ("creation counts after activation", [.at(10, created: 9), .at(11, created: 1)], 1),
            ("all the same, the greatest kid", [.at(10, created: 1), .at(10, created: 1), .at(10, created: 1)], 2),
            ("no creation times, the greatest kid", [.at(10), .at(10)], 1),
            ("a retired key, its successor revoked", [.at(0, retires: 500), .at(500, revoked: 900)], nil),
            ("between two keys", [.at(0, retires: 900), .at(1_100)], nil),
            ("all revoked", [.at(0, revoked: 5), .at(10, revoked: 20)], nil),
        ] as [(name: String, lifecycles: [KeyLifecycle], primary: Int?)])
    func primary(keys: (name: String, lifecycles: [KeyLifecycle], primary: Int?)) throws {
        let keyset = try TestKeysets.keyset(keys.lifecycles)
        let primary = keyset.primary(at: UnixTime(1_000))?.record.kid
        #expect(primary == keys.primary.map { keyset.keyIDs[$0] })
        let states = keyset.keyIDs.map { keyset.state(of: $0, at: UnixTime(1_000)) }
        #expect(states.filter { $0 == .primary }.count == (keys.primary == nil ? 0 : 1))
        #expect(keys.primary.map { states[$0] == .primary } ?? true)
    }

    @Test("the order of the keys in the set doesn't change the primary")
    func orderInTheSet() throws {
        let lifecycles: [KeyLifecycle] = [.at(10), .at(10, created: 4), .at(10, created: 4), .at(9, created: 8)]
        var entries = try TestKeysets.keyset(lifecycles).entries
        let expected = entries[2].record.kid
        var random = SplitMix64(seed: 3)
        for _ in 0..<24 {
            entries.shuffle(using: &random)
            #expect(try Keyset(entries).primary(at: UnixTime(50))?.record.kid == expected)
        }
    }

    @Test(
        "the states of keys that retire in sequence never move backward", arguments: 0..<LongTests.value(50, short: 15))
    func statesOnlyMoveForward(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let activations = (0..<5).map { _ in Int64.random(in: 0..<1_000, using: &random) }.sorted()
        let lifecycles = activations.enumerated().map { index, activation -> KeyLifecycle in
            let retires = index + 1 < activations.count ? activations[index + 1] : nil
            let expires = retires.map { $0 + Int64.random(in: 1...500, using: &random) }
            let revoked = Bool.random(using: &random) ? Int64.random(in: 0..<1_500, using: &random) : nil
            return .at(activation, retires: retires, expires: expires, revoked: revoked)
        }
        let keyset = try TestKeysets.keyset(lifecycles.shuffled(using: &random))
        let order: [KeyState] = [.pending, .primary, .retiring, .expired, .revoked]
        for kid in keyset.keyIDs {
            let ranks = (-1...1_600).map { time in
                keyset.state(of: kid, at: UnixTime(time)).flatMap { order.firstIndex(of: $0) } ?? -1
            }
            #expect(ranks == ranks.sorted())
        }
    }
}
