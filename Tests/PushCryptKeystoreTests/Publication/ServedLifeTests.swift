import PushCryptTestSupport
import Testing

@Suite("random lives of a keyset and its served sets")
struct ServedLifeTests {
    @Test(
        "no publication brings a key back that an earlier set gave up; a refusal has a finding; without a finding the served sets are the keyset's",
        arguments: LongTests.value(1...300, short: 1...15) as ClosedRange<UInt64>)
    func life(seed: UInt64) throws {
        let life = try ServedLife(seed: seed)
        for _ in 0..<40 {
            try life.step()
            if let flaw = try life.flaw() {
                Issue.record("\(flaw)\n\(life.story.joined(separator: "\n"))")
                return
            }
        }
    }

    @Test(
        "an operator who follows the advice of status, and then of refusals, ends with a status without findings",
        arguments: LongTests.value(1...100, short: 1...8) as ClosedRange<UInt64>)
    func advice(seed: UInt64) throws {
        let life = try ServedLife(seed: 1_000 + seed)
        for _ in 0..<4 {
            for _ in 0..<10 { try life.step() }
            if let flaw = try life.repair() {
                Issue.record("\(flaw)\n\(life.story.joined(separator: "\n"))")
                return
            }
        }
    }
}
