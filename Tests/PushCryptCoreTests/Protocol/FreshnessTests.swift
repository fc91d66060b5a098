import Testing

@testable import PushCryptCore

@Suite struct FreshnessTests {
    private static let window = MessageHeader.windowInSeconds
    private static let now: Int64 = 1_800_000_000

    struct Moment: Sendable, CustomStringConvertible {
        let issuedAt: Int64
        let expiresAt: Int64
        var highest: Int64?
        let failure: FailureClass?

        var description: String {
            "iat \(issuedAt - now), exp \(expiresAt - now), H \(highest.map { "\($0 - now)" } ?? "none")"
        }
    }

    private static func moment(
        _ issuedAt: Int64, _ expiresAt: Int64, highest: Int64? = nil, _ failure: FailureClass? = nil
    ) -> Moment {
        Moment(
            issuedAt: now + issuedAt, expiresAt: now + expiresAt, highest: highest.map { now + $0 }, failure: failure)
    }

    /// Seconds from now.
    private static let moments = [
        // exp has passed when it is now.
        moment(-10, 1), moment(-10, 0, .expired), moment(-10, -1, .expired),
        // iat: 10 minutes ahead is the most.
        moment(599, 700), moment(600, 700), moment(601, 700, .notYetValid), moment(601, 602, .notYetValid),
        // iat: the window is the oldest.
        moment(-window, 1), moment(-window - 1, 1, .expired), moment(-window + 1, 1),
        // A clock set back: now is 10 minutes before the highest iat that was accepted.
        moment(-10, 1, highest: 600), moment(-10, 1, highest: 601, .expired), moment(-10, 2, highest: 601),
        moment(3_000, 4_000, highest: 3_000), moment(3_000, 4_000, highest: 2_999, .notYetValid),
        moment(3_001, 4_000, highest: 3_000, .notYetValid), moment(3_000, 3_001, highest: 3_000),
        moment(1_000, 2_401, highest: 3_000), moment(1_000, 2_400, highest: 3_000, .expired),
        moment(2_400 - window, 2_401, highest: 3_000), moment(2_399 - window, 2_401, highest: 3_000, .expired),
        // A highest iat in the past doesn't change the clock.
        moment(-10, 0, highest: -window, .expired), moment(-10, 1, highest: -window), moment(600, 700, highest: 0),
    ]

    @Test("a message is expired, not yet valid or fresh to the second", arguments: moments)
    func boundaries(moment: Moment) {
        let failure = Freshness.failure(
            issuedAt: UnixTime(moment.issuedAt), expiresAt: UnixTime(moment.expiresAt), clock: UnixTime(Self.now),
            highestIssuedAt: moment.highest.map { UnixTime($0) })
        #expect(failure == moment.failure)
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
