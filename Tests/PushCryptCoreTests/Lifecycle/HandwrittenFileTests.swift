import PushCryptCore
import PushCryptTestSupport
import Testing

/// Files written by hand with any times: the plan makes one key seal at a time again.
@Suite struct HandwrittenFileTests {
    private func life(
        _ activates: Int64?, _ retires: Int64? = nil, _ expires: Int64? = nil, created: Int64? = nil,
        revoked: Int64? = nil
    ) -> KeyLifecycle {
        func time(_ days: Int64?) -> UnixTime? { days.map { .days($0) } }
        return KeyLifecycle(
            createdAt: time(created), activatesAt: time(activates), retiresAt: time(retires), expiresAt: time(expires),
            revokedAt: time(revoked))
    }

    @Test(
        "a primary with an end and no successor is followed by a new key a week before it",
        arguments: [[50, nil], [50, 51], [nil, 50], [60, 50]] as [[Int64?]])
    func anEndWithoutASuccessor(ends: [Int64?]) throws {
        var sample = TimelineInDays(.standard, [(.a, life(0, ends[0], ends[1]))])
        #expect(sample.plan(on: 42).lines.last == "next add 43: seals from 50")
        #expect(sample.plan(on: 45).due.map(\.line) == ["add 43: seals from 52"])
        try sample.add(.b, on: 45, sealsFrom: 52)
        #expect(sample.lines == ["A 0 52 142+10m", "B 52 - -"])
    }

    @Test("under required coverage a primary with an end is followed by a key that must be promoted")
    func anEndWithoutASuccessorUnderAGate() throws {
        var sample = TimelineInDays(.days(90, lead: 7, gated: true), [(.a, life(0, 50, 60))])
        try sample.add(.b, on: 45, sealsFrom: nil)
        #expect(sample.lines == ["A 0 - -", "B - - -"])
    }

    @Test("a file without a sealing key gets a new key at once")
    func noKeySeals() throws {
        var sample = TimelineInDays(.days(90, lead: 7, gated: true), [(.a, life(0, 50, 500)), (.b, life(200))])
        #expect(sample.plan(on: 100).due.map(\.line) == ["add 100: seals from 100"])
        try sample.add(.c, on: 100, sealsFrom: 100)
        #expect(sample.lines == ["A 0 50 500", "B 200 - -", "C 100 200 290+10m"])
    }

    @Test("when a key is added, the sealing keys other than the primary retire")
    func twoKeysSeal() throws {
        var sample = TimelineInDays(.standard, [(.a, life(0)), (.b, life(10)), (.c, life(20))])
        try sample.add(.d, on: 100, sealsFrom: 110)
        #expect(sample.lines == ["A 0 100 190+10m", "B 10 100 190+10m", "C 20 110 200+10m", "D 110 - -"])
        #expect(sample.states(on: 100) == "retiring retiring primary pending")
    }

    @Test("an expired key without retiresAt is erased and not changed otherwise")
    func anExpiredKeyWithoutItsRetirement() throws {
        var sample = TimelineInDays(.standard, [(.a, life(0, nil, 40)), (.b, life(35))])
        try sample.add(.c, on: 50, sealsFrom: 60)
        #expect(sample.lines == ["A 0 - 40", "B 35 60 150+10m", "C 60 - -"])
        #expect(sample.plan(on: 50).due.map(\.line) == ["destroy A 40"])
    }

    @Test("retired and revoked keys get their missing expiresAt")
    func noExpiry() throws {
        var sample = TimelineInDays(.standard, [(.a, life(0, 30)), (.b, life(30, revoked: 60)), (.c, life(60))])
        #expect(sample.states(on: 999) == "retiring revoked primary")
        try sample.add(.d, on: 100, sealsFrom: 150)
        #expect(sample.lines[..<2] == ["A 0 30 190+10m", "B 30 - 190+10m revoked 60"])
        #expect(sample.plan(on: 195).due.map(\.line) == ["destroy A 190+10m", "destroy B 190+10m"])
    }

    @Test("a pending key without createdAt isn't promoted by the plan")
    func aPendingKeyWithoutACreationTime() {
        let sample = TimelineInDays(.standard, [(.a, life(0)), (.b, life(nil))])
        let plan = sample.plan(on: 5_000)
        #expect(plan.lines == ["promote B 5000 blocked", "next -"])
        #expect(plan.blocked[0].blockedBy?.contains("at once") == true)
    }

    @Test("an overlap that is too short doesn't block other changes")
    func anOverlapThatIsTooShort() throws {
        var sample = TimelineInDays(.standard, [(.a, life(0, 30, 31)), (.b, life(30, 100, 101)), (.c, life(100))])
        try sample.adopt(.days(90, lead: 8), on: 30)
        #expect(sample.lines == ["A 0 30 120+10m", "B 30 100 190+10m", "C 100 - -"])
    }

    @Test("plans for random times never violate an invariant", arguments: 0..<300)
    func anyTimes(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let now = UnixTime.days(1_000)
        let keys = (0..<Int.random(in: 1...5, using: &random)).map { _ in
            KeyTimeline.Key(.random(&random), randomLife(&random))
        }
        let updatedAt = Bool.random(using: &random) ? now - Int64.random(in: 0...500, using: &random) * day : nil
        var keyset = SimulatedKeyset(KeyTimeline(keys, updatedAt: updatedAt), .random(&random), seed: random.next())
        let plan = RotationPlan(keyset.timeline, keyset.policy, at: now) { _ in
            RotationPlan.CoverageVerdict(isEnough: true, explanation: "")
        }
        try keyset.carryOut(plan, at: now)
        let again = RotationPlan(keyset.timeline, keyset.policy, at: now) { _ in
            RotationPlan.CoverageVerdict(isEnough: true, explanation: "")
        }
        #expect(again.due.isEmpty)
        #expect(keyset.timeline.primary(at: now) != nil)
        guard !plan.due.isEmpty else { return }
        var witness = Witness()
        witness.mayBeEarly = Set(keys.map(\.kid))
        witness.sawWrite(keyset)
        witness.watch(keyset, until: now + 2_000 * day)
        #expect(witness.flaws == [])
    }

    private func randomLife(_ random: inout SplitMix64) -> KeyLifecycle {
        func time(_ range: ClosedRange<Int64>, oneIn chances: Int) -> UnixTime? {
            let moment = UnixTime.days(Int64.random(in: range, using: &random))
            return Int.random(in: 0..<chances, using: &random) == 0 ? moment : nil
        }
        return KeyLifecycle(
            createdAt: time(0...1_000, oneIn: 2), activatesAt: time(0...1_500, oneIn: 1),
            retiresAt: time(0...1_500, oneIn: 3), expiresAt: time(0...2_000, oneIn: 3),
            revokedAt: time(0...1_000, oneIn: 8))
    }
}
