import Testing

@testable import PushCryptCore

@Suite struct FreshnessTests {
    private static let window = MessageHeader.windowInSeconds
    private static let now: Int64 = 1_800_000_000

    /// In seconds from now: `iat`, `exp` and the highest `iat` that was accepted.
    private static let moments: [(Int64, Int64, Int64?, FailureClass?)] = [
        // exp has passed when it is now.
        (-10, 1, nil, nil), (-10, 0, nil, .expired), (-10, -1, nil, .expired),
        // iat: 10 minutes ahead is the most.
        (599, 700, nil, nil), (600, 700, nil, nil), (601, 700, nil, .notYetValid), (601, 602, nil, .notYetValid),
        // iat: the window is the oldest.
        (-window, 1, nil, nil), (-window - 1, 1, nil, .expired), (-window + 1, 1, nil, nil),
        // A clock set back: now is 10 minutes before the highest iat that was accepted.
        (-10, 1, 600, nil), (-10, 1, 601, .expired), (-10, 2, 601, nil),
        (3_000, 4_000, 3_000, nil), (3_000, 4_000, 2_999, .notYetValid),
        (3_001, 4_000, 3_000, .notYetValid), (3_000, 3_001, 3_000, nil),
        (1_000, 2_401, 3_000, nil), (1_000, 2_400, 3_000, .expired),
        (2_400 - window, 2_401, 3_000, nil), (2_399 - window, 2_401, 3_000, .expired),
        // A highest iat in the past doesn't change the clock.
        (-10, 0, -window, .expired), (-10, 1, -window, nil), (600, 700, 0, nil),
    ]

    @Test("a message is expired, not yet valid or fresh to the second", arguments: moments)
    func boundaries(issuedAt: Int64, expiresAt: Int64, highest: Int64?, expected: FailureClass?) {
        let now = UnixTime(Self.now)
        let failure = Freshness.failure(
            issuedAt: now + issuedAt, expiresAt: now + expiresAt, clock: now,
            highestIssuedAt: highest.map { now + $0 })
        #expect(failure == expected)
    }

    @Test(
        "an extreme clock or highest iat gives a failure class or nil and doesn't trap",
        arguments: [
            (.max, nil, .expired), (.min, nil, .notYetValid), (.min, .min, .notYetValid), (now, .max, .expired),
            (now, .min, nil), (.max, .max, .expired),
        ] as [(Int64, Int64?, FailureClass?)])
    func extremeTimes(clock: Int64, highest: Int64?, expected: FailureClass?) {
        for issuedAt in [Self.now, .min, .max] {
            let failure = Freshness.failure(
                issuedAt: UnixTime(issuedAt), expiresAt: UnixTime(Self.now + 60), clock: UnixTime(clock),
                highestIssuedAt: highest.map { UnixTime($0) })
            if issuedAt == Self.now { #expect(failure == expected) }
        }
    }
}

@Suite struct FailureClassTests {
    @Test("each defined failure class has a public constant, whose description is its name")
    func constants() {
        let classes: [FailureClass] = [
            .notSealed, .malformed, .unsupportedVersion, .unknownKey, .keyLocked, .keyExpired, .keyRevoked,
            .unsupportedSuite, .undecryptable, .expired, .notYetValid, .replayed, .retracted, .timedOut,
            .attachmentFailed, .internalError,
        ]
        #expect(classes.map(\.defined) == FailureClass.Defined.allCases)
        #expect(classes.map(\.description) == FailureClass.Defined.allCases.map(\.rawValue))
    }

    @Test("a class of an app's own is not a defined one, and keeps its name")
    func own() {
        let own = FailureClass(rawValue: "acme.noQuota")
        #expect(own.defined == nil && own.description == "acme.noQuota")
    }
}
