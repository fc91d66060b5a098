import PushCryptCore
import PushCryptTestSupport
import Testing

/// The renewal of a signed set that is valid for 60 days, with a policy of 90, 7 and 30 days and 2 keys.
@Suite struct RenewalPlanTests {
    private func plan(
        _ sample: TimelineInDays, at time: UnixTime, confirmsClock: Bool = true
    ) throws -> RotationPlan {
        RotationPlan(
            sample.timeline, sample.policy, publication: try PublicationPolicyTests.policy(), at: time,
            confirmsClock: confirmsClock)
    }

    @Test("The set is renewed from the second on at which half of its validity has passed")
    func boundary() throws {
        let sample = TimelineInDays()
        let early = try plan(sample, at: .days(30) - 1)
        #expect(early.due.isEmpty && early.next?.action == .renew && early.next?.dueAt == .days(30))
        for time in [UnixTime.days(30), .days(59), .days(60), .days(82)] {
            let due = try plan(sample, at: time)
            #expect(due.due.map(\.action) == [.renew], "\(time)")
            #expect(due.due.first?.dueAt == .days(30), "\(time)")
        }
    }

    @Test("A renewal is a change: the next one is due after half of the new validity")
    func renewed() throws {
        var sample = TimelineInDays()
        sample.timeline.updatedAt = .days(31)
        #expect(try plan(sample, at: .days(31)).due.isEmpty)
        #expect(try plan(sample, at: .days(31)).next?.dueAt == .days(61))
        #expect(try plan(sample, at: .days(61)).due.map(\.action) == [.renew])
    }

    @Test("Another step that is due issues the set too, so no renewal is due beside it")
    func otherStep() throws {
        let due = try plan(TimelineInDays(), at: .days(83)).due
        #expect(due.map(\.action) == [.add(activatesAt: .days(90))])
    }

    @Test("The reason for a step after the set has expired says that apps have verified no push since then")
    func expired() throws {
        let valid = try plan(TimelineInDays(), at: .days(60) - 1).due.map(\.why)
        #expect(valid.count == 1 && valid[0].contains("is valid until 1970-03-02T00:00:00Z"), "\(valid)")
        // On day 83 a key is added too, which issues the set.
        for day: Int64 in [60, 82, 83] {
            let reasons = try plan(TimelineInDays(), at: .days(day)).due.map(\.why)
            #expect(reasons.count == 1, "\(reasons)")
            let expected =
                "the signed set expired at 1970-03-02T00:00:00Z: since then apps verify no push, until they fetch the new set"
            #expect(reasons[0].hasSuffix(expected), "\(reasons)")
            #expect(!reasons[0].contains("is valid until"))
        }
    }

    @Test("A blocked step doesn't prevent the renewal")
    func blockedStep() throws {
        var sample = TimelineInDays(.days(90, lead: 7, gated: true))
        try sample.add(TimelineInDays.b, on: 83, sealsFrom: nil)
        let found = try plan(sample, at: .days(120))
        #expect(found.blocked.map(\.action) == [.promote(TimelineInDays.b)])
        #expect(found.due.map(\.action) == [.renew])
    }

    @Test("A clock that seems wrong blocks the renewal until an operator confirms it")
    func wrongClock() throws {
        let sample = TimelineInDays()
        let blocked = try plan(sample, at: .days(500), confirmsClock: false)
        #expect(blocked.due.isEmpty && blocked.blocked.contains { $0.action == .renew })
        #expect(try !plan(sample, at: .days(500)).due.isEmpty)
    }

    @Test("Without a publication no renewal is ever planned")
    func unpublished() {
        for day in stride(from: Int64(0), through: 400, by: 10) {
            let plan = TimelineInDays().plan(on: day)
            #expect(!([plan.next].compactMap(\.self) + plan.due).contains { $0.action == .renew })
        }
    }

    @Test("No step of publisher keys is ever due", arguments: [0, 83, 90, 400, 36_500] as [Int64])
    func publishers(day: Int64) throws {
        var sample = TimelineInDays()
        try sample.add(TimelineInDays.b, on: 1, sealsFrom: nil)
        let plan = RotationPlan(publishers: sample.timeline, at: .days(day))
        #expect(plan.due.isEmpty && plan.blocked.isEmpty && plan.next == nil)
        #expect(plan.exemption?.contains("app update") == true)
    }
}
