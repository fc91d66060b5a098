import PushCryptCore
import PushCryptTestSupport
import Testing

/// Random commands under random policies, with clocks that jump.
@Suite struct CommandTests {
    @Test("random sequences of commands never violate an invariant", arguments: 0..<60)
    func randomCommands(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let policy = RotationPolicy.random(&random)
        var someone = try Operator(policy, at: UnixTime(1_772_355_600), seed: random.next())
        for _ in 0..<60 {
            someone.moveClock()
            try someone.command()
        }
        #expect(someone.witness.flaws == [])
        #expect(someone.doneCount > 10)
    }

    @Test("the random sequences reach every kind of refusal")
    func refusals() throws {
        var codes = Set<LifecycleError.Code>()
        for seed in 0..<10 as Range<UInt64> {
            var someone = try Operator(.standard, at: UnixTime(1_772_355_600), seed: seed)
            for _ in 0..<40 {
                someone.moveClock()
                try someone.command()
            }
            codes.formUnion(someone.refusals.keys)
        }
        #expect(codes == [.unknownKey, .idTaken, .wrongState, .blocked, .invariantBroken])
    }
}
