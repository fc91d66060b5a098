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

    @Test("a key has the state of its timestamps", arguments: cases)
    func state(of testCase: Case) throws {
        let keyset = try TestKeysets.keyset([testCase.lifecycle])
        let (kid, now) = (keyset.keyIDs[0], UnixTime(Self.now))
        #expect(keyset.state(of: kid, at: now) == testCase.state)
        #expect((keyset.primary(at: now) != nil) == (testCase.state == .primary))
    }

    @Test("a pending key opens, and an expired or revoked key doesn't", arguments: cases)
    func opening(with testCase: Case) throws {
        let keyset = try TestKeysets.keyset([testCase.lifecycle])
        let kid = keyset.keyIDs[0]
        let failure: FailureClass? =
            switch testCase.state {
            case .expired: .keyExpired
            case .revoked: .keyRevoked
            default: nil
            }
        do throws(FailureClass) {
            #expect(try keyset.openingEntry(kid, at: UnixTime(Self.now)).record.kid == kid && failure == nil)
        } catch {
            #expect(error == failure)
        }
    }

    @Test("only the primary seals", arguments: cases)
    func sealing(with testCase: Case) throws {
        let keyset = try TestKeysets.keyset([testCase.lifecycle])
        if testCase.state == .primary {
            #expect(try keyset.recipient(at: UnixTime(Self.now)).kid == keyset.keyIDs[0])
        } else {
            expectKeyError(.noKeySeals) { try keyset.recipient(at: UnixTime(Self.now)) }
        }
    }

    @Test(
        "a clock before the last write doesn't change the states", arguments: cases,
        [Int64.min / 2, 0, 500, 999, 1_000])
    func noEarlierThanTheLastWrite(testCase: Case, clock: Int64) throws {
        let keyset = try TestKeysets.keyset([testCase.lifecycle], updatedAt: Self.now)
        #expect(keyset.state(of: keyset.keyIDs[0], at: UnixTime(clock)) == testCase.state)
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
