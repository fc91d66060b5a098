import PushCryptCore
import PushCryptTestSupport
import Testing

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
