import PushCryptTestSupport
import Testing

@testable import PushCryptCore

@Suite struct KeysetStateTests {
    private static let now: Int64 = 1_000

    struct Case: Sendable, CustomStringConvertible {
        let lifecycle: KeyLifecycle
        let state: KeyState

        init(_ lifecycle: KeyLifecycle, _ state: KeyState) {
            (self.lifecycle, self.state) = (lifecycle, state)
        }

        var description: String {
            let times = [
                lifecycle.activatesAt, lifecycle.retiresAt, lifecycle.expiresAt, lifecycle.revokedAt,
            ].map { $0.map { "\($0.seconds)" } ?? "-" }
            return "\(times.joined(separator: " ")): \(state)"
        }
    }

    /// One key alone in its set at the time 1000.
    private static let cases = [
        Case(.at(nil), .pending), Case(.at(1_001), .pending), Case(.at(1_000), .primary), Case(.at(999), .primary),
        Case(.at(0), .primary), Case(.at(1_001, retires: 1_002, expires: 1_003), .pending),
        Case(.at(0, retires: 1_001), .primary), Case(.at(0, retires: 1_000), .retiring),
        Case(.at(0, retires: 999), .retiring), Case(.at(1_000, retires: 1_000), .retiring),
        Case(.at(0, retires: 500, expires: 1_001), .retiring), Case(.at(0, retires: 500, expires: 1_000), .expired),
        Case(.at(0, retires: 500, expires: 999), .expired), Case(.at(0, expires: 1_000), .expired),
        Case(.at(0, expires: 1_001), .primary), Case(.at(nil, expires: 1_000), .expired),
        Case(.at(0, revoked: 1_001), .primary), Case(.at(0, revoked: 1_000), .revoked),
        Case(.at(0, revoked: 0), .revoked), Case(.at(nil, revoked: 1_000), .revoked),
        Case(.at(2_000, revoked: 999), .revoked), Case(.at(0, retires: 500, revoked: 1_000), .revoked),
        Case(.at(0, retires: 500, expires: 600, revoked: 1_000), .revoked),
        Case(.at(0, retires: 500, expires: 600, revoked: 1_001), .expired),
    ]

    @Test("a key has the state of its timestamps, in which it opens and seals or doesn't", arguments: cases)
    func state(of testCase: Case) throws {
        let keyset = try TestKeysets.keyset([testCase.lifecycle])
        let (kid, now) = (keyset.keyIDs[0], UnixTime(Self.now))
        #expect(keyset.state(of: kid, at: now) == testCase.state)
        let failure: FailureClass? =
            switch testCase.state {
            case .expired: .keyExpired
            case .revoked: .keyRevoked
            default: nil
            }
        do throws(FailureClass) {
            #expect(try keyset.openingEntry(kid, at: now).record.kid == kid && failure == nil)
        } catch {
            #expect(error == failure)
        }
        if testCase.state == .primary {
            #expect(keyset.primary(at: now) != nil)
            #expect(try keyset.recipient(at: now).kid == kid)
        } else {
            #expect(keyset.primary(at: now) == nil)
            expectKeyError(.noKeySeals) { try keyset.recipient(at: now) }
        }
        // A clock before the last write doesn't change the states.
        let written = try TestKeysets.keyset([testCase.lifecycle], updatedAt: Self.now)
        for clock in [Int64.min / 2, 0, 500, 999, 1_000] {
            #expect(written.state(of: kid, at: UnixTime(clock)) == testCase.state, "\(clock)")
        }
    }

    @Test("a clock after the last write changes the states")
    func laterThanTheLastWrite() throws {
        let keyset = try TestKeysets.keyset([.at(0, retires: 1_500, expires: 2_000)], updatedAt: 1_000)
        let states = [1_000, 1_499, 1_500, 1_999, 2_000].map { keyset.state(of: keyset.keyIDs[0], at: UnixTime($0)) }
        #expect(states == [.primary, .primary, .retiring, .retiring, .expired])
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
    struct Case: Sendable, CustomStringConvertible {
        let description: String
        let lifecycles: [KeyLifecycle]
        let primary: Int?

        init(_ description: String, _ lifecycles: [KeyLifecycle], _ primary: Int?) {
            (self.description, self.lifecycles, self.primary) = (description, lifecycles, primary)
        }
    }

    @Test(
        "the primary is the sealing key with the greatest times and id",
        arguments: [
            Case("the one activated last", [.at(10), .at(30), .at(20)], 1),
            Case("one that activates now", [.at(999), .at(1_000), .at(1_001)], 1),
            Case("a pending key is passed over", [.at(10), .at(2_000), .at(nil)], 0),
            Case("a retired key is passed over", [.at(10), .at(30, retires: 1_000), .at(20)], 2),
            Case("an expired key is passed over", [.at(10), .at(30, expires: 1_000)], 0),
            Case("a revoked key is passed over", [.at(10), .at(30, revoked: 1_000)], 0),
            Case("a revocation to come", [.at(10), .at(30, revoked: 1_001)], 1),
            Case("same activation, created last", [.at(10, created: 1), .at(10, created: 3), .at(10, created: 2)], 1),
            Case("a creation time before none", [.at(10, created: -5), .at(10), .at(10)], 0),
            Case("creation counts after activation", [.at(10, created: 9), .at(11, created: 1)], 1),
            Case("all the same, the greatest kid", [.at(10, created: 1), .at(10, created: 1), .at(10, created: 1)], 2),
            Case("no creation times, the greatest kid", [.at(10), .at(10)], 1),
            Case(
                "a predecessor that retired, its successor revoked", [.at(0, retires: 500), .at(500, revoked: 900)], nil
            ),
            Case("between two keys", [.at(0, retires: 900), .at(1_100)], nil),
            Case("all revoked", [.at(0, revoked: 5), .at(10, revoked: 20)], nil),
        ])
    func primary(testCase: Case) throws {
        let keyset = try TestKeysets.keyset(testCase.lifecycles)
        let primary = keyset.primary(at: UnixTime(1_000))?.record.kid
        #expect(primary == testCase.primary.map { keyset.keyIDs[$0] })
        let states = keyset.keyIDs.map { keyset.state(of: $0, at: UnixTime(1_000)) }
        #expect(states.filter { $0 == .primary }.count == (testCase.primary == nil ? 0 : 1))
        #expect(testCase.primary.map { states[$0] == .primary } ?? true)
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
