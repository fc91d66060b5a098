import PushCryptCore
import PushCryptTestSupport
import Testing

/// Years of `rotate` in cron under random policies, checked at every second at which a state changes.
@Suite struct CronTests {
    /// When cron runs.
    enum Pattern: String, Sendable, CaseIterable {
        case onTheSecond, daily, weekly, irregular, withOutages
    }

    private static let start = UnixTime(1_772_355_600)

    @Test(
        "rotation by cron loses no push, in every pattern of runs, with required coverage or without",
        arguments: Pattern.allCases, Array(0..<8) + (1_000..<1_004) as [UInt64])
    func run(_ pattern: Pattern, seed: UInt64) throws {
        let gated = seed >= 1_000
        var random = SplitMix64(seed: seed << 8 | UInt64(Pattern.allCases.firstIndex(of: pattern)!))
        let policy = RotationPolicy.random(&random, gated: gated)
        var keyset = try SimulatedKeyset(policy, at: Self.start, seed: random.next())
        var witness = Witness()
        let isInTime =
            pattern == .onTheSecond || pattern == .daily && policy.publishLeadInSeconds > Int64(policy.keep) * day
        witness.countsOpenKeys = isInTime && !gated
        witness.sawWrite(keyset)
        let span = min(max(10 * policy.rotateEveryInSeconds, gated ? 150 * day : 45 * day), 5 * 365 * day)
        var now = Self.start
        let slowness = Int64.random(in: 0...60, using: &random) * day
        for _ in 0..<5_000 where now < Self.start + span {
            now = now + interval(pattern, keyset, now, &random)
            let coverage = { (kid: KeyID) in
                RotationPlan.CoverageVerdict(
                    isEnough: keyset.timeline.key(kid)!.lifecycle.createdAt! + slowness <= now, explanation: "reports")
            }
            let plan = RotationPlan(keyset.timeline, keyset.policy, at: now, coverage: coverage)
            guard !plan.due.isEmpty else { continue }
            witness.watch(keyset, until: now)
            try keyset.carryOut(plan, at: now)
            witness.sawWrite(keyset)
            let again = RotationPlan(keyset.timeline, keyset.policy, at: now, coverage: coverage)
            #expect(again.due.isEmpty, "a second run does nothing")
        }
        witness.watch(keyset, until: now)
        #expect(witness.flaws == [], "\(policy.json)")
        #expect(now >= Self.start + span, "the simulation reached its end")
        #expect(keyset.timeline.keys.count >= 2, "keys were added")
    }

    private func interval(
        _ pattern: Pattern, _ keyset: SimulatedKeyset, _ now: UnixTime, _ random: inout SplitMix64
    ) -> Int64 {
        switch pattern {
        case .onTheSecond:
            max(
                (RotationPlan(keyset.timeline, keyset.policy, at: now).next?.dueAt ?? now + day).seconds - now.seconds,
                1)
        case .daily: day
        case .weekly: 7 * day
        case .irregular: Int64.random(in: 1...20 * day, using: &random)
        case .withOutages:
            Int.random(in: 0..<40, using: &random) == 0 ? Int64.random(in: 60...500, using: &random) * day : day
        }
    }
}

/// Random commands under random policies, with clocks that jump.
@Suite struct CommandTests {
    @Test("random sequences of commands never violate an invariant", arguments: 0..<60)
    func randomCommands(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let policy = RotationPolicy.random(&random)
        var admin = try Operator(policy, at: UnixTime(1_772_355_600), seed: random.next())
        for _ in 0..<60 {
            admin.moveClock()
            try admin.command()
        }
        #expect(admin.witness.flaws == [])
        #expect(admin.doneCount > 10)
    }

    @Test("the random sequences reach every kind of refusal")
    func refusals() throws {
        var codes = Set<LifecycleError.Code>()
        for seed in 0..<10 as Range<UInt64> {
            var admin = try Operator(.standard, at: UnixTime(1_772_355_600), seed: seed)
            for _ in 0..<40 {
                admin.moveClock()
                try admin.command()
            }
            codes.formUnion(admin.refusals.keys)
        }
        #expect(codes == [.unknownKey, .idTaken, .wrongState, .blocked, .invariantBroken])
    }
}
