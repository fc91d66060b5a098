import PushCryptCore
import Testing

/// A host that booted in the wrong year does nothing.
@Suite struct ClockGuardTests {
    private let a = TimelineInDays.a
    private let b = TimelineInDays.b

    @Test(
        "a clock more than 10 minutes before the last change, or too long after it, is objected to",
        arguments: [
            // 400 days for rotations up to 133 days, three rotations for longer ones.
            (90, 100, -601, false), (90, 100, -600, true), (90, 100, 0, true), (90, 100, 86_400, true),
            (90, 500, 0, true), (90, 500, 1, false),
            (200, 100, -601, false), (200, 700, 0, true), (200, 700, 1, false), (1, 500, 0, true), (1, 500, 1, false),
        ] as [(Int64, Int64, Int64, Bool)])
    func objections(rotateEvery: Int64, edge: Int64, offset: Int64, isBelieved: Bool) {
        var sample = TimelineInDays(.days(rotateEvery, lead: 0))
        sample.timeline.updatedAt = .days(100)
        let time = UnixTime.days(edge) + offset
        #expect((sample.timeline.clockObjection(to: time, sample.policy) == nil) == isBelieved)
        let plan = RotationPlan(sample.timeline, sample.policy, at: time)
        #expect(isBelieved ? plan.blocked.isEmpty : plan.due.isEmpty)
        #expect((plan.clockObjection == nil) == isBelieved)
        #expect(RotationPlan(sample.timeline, sample.policy, at: time, confirmsClock: true).blocked.isEmpty)
    }

    @Test("an objection to the clock blocks every due step")
    func everythingDueIsBlocked() throws {
        var sample = TimelineInDays()
        try sample.add(b, on: 83, sealsFrom: 90)
        let late = RotationPlan(sample.timeline, sample.policy, at: .days(600))
        #expect(late.lines == ["add 173: seals from 607 blocked", "destroy A 180+10m blocked", "next -"])
        #expect(late.blocked.allSatisfy { $0.blockedBy?.contains("--confirm-clock") == true })
        sample.timeline.updatedAt = .days(200)
        let early = RotationPlan(sample.timeline, sample.policy, at: .days(199))
        #expect(early.lines == ["add 173: seals from 207 blocked", "destroy A 180+10m blocked", "next -"])
    }

    @Test("a file without updatedAt raises no objection")
    func nothingToGoBy() {
        let sample = TimelineInDays(.standard, [(a, .init(activatesAt: .days(0)))])
        #expect(sample.timeline.clockObjection(to: .days(99_999), sample.policy) == nil)
    }
}
