import PushCryptCore
import Testing

/// The steps of a plan on a day, with a policy of 90, 7 and 30 days and 2 keys.
@Suite struct PlanTests {
    @Test(
        "the first rotation has the steps of its day",
        arguments: [
            (0, ["next add 83: seals from 90"]), (82, ["next add 83: seals from 90"]),
            (83, ["add 83: seals from 90", "next -"]), (84, ["add 83: seals from 91", "next -"]),
            // cron was down for a year: the next key is still published for the whole lead.
            (455, ["add 83: seals from 462", "next -"]), (36_500, ["add 83: seals from 36507", "next -"]),
        ] as [(Int64, [String])])
    func theFirstRotation(day: Int64, expected: [String]) {
        #expect(TimelineInDays().plan(on: day).lines == expected)
    }

    @Test(
        "the second rotation has the steps of its day",
        arguments: [
            (83, ["next add 173: seals from 180"]), (90, ["next add 173: seals from 180"]),
            (172, ["next add 173: seals from 180"]), (173, ["add 173: seals from 180", "next destroy A 180+10m"]),
            (180, ["add 173: seals from 187", "next destroy A 180+10m"]),
            (181, ["add 173: seals from 188", "destroy A 180+10m", "next -"]),
        ] as [(Int64, [String])])
    func theSecondRotation(day: Int64, expected: [String]) throws {
        var sample = TimelineInDays()
        try sample.add(.b, on: 83, sealsFrom: 90)
        #expect(sample.plan(on: day).lines == expected)
    }

    @Test("a step is due from its second on")
    func boundaries() throws {
        var sample = TimelineInDays()
        let due = UnixTime.days(83)
        for (time, count) in [(due - 1, 0), (due, 1), (due + 1, 1)] {
            #expect(RotationPlan(sample.timeline, sample.policy, at: time).due.count == count)
        }
        try sample.add(.b, on: 83, sealsFrom: 90)
        sample.timeline.updatedAt = .days(150)
        let end = UnixTime.days(180) + 600
        for (time, count) in [(end - 1, 0), (end, 1)] {
            let due = RotationPlan(sample.timeline, sample.policy, at: time).due
            #expect(due.count { $0.action == .destroy(.a) } == count)
        }
    }

    @Test("a rotation that begins early adds a key now")
    func begunEarly() throws {
        var sample = TimelineInDays()
        #expect(sample.plan(on: 10, beginsNow: true).lines == ["add 10: seals from 17", "next -"])
        #expect(sample.plan(on: 85, beginsNow: true).lines == ["add 83: seals from 92", "next -"])
        try sample.add(.b, on: 10, sealsFrom: 17)
        // A rotation that has begun isn't begun again.
        #expect(sample.plan(on: 11, beginsNow: true).lines == ["next add 100: seals from 107"])
    }

    @Test("a key under required coverage is promoted only with enough coverage")
    func gated() throws {
        var sample = TimelineInDays(.days(90, lead: 7, gated: true))
        #expect(sample.plan(on: 82).lines == ["next add 83: waits"])
        #expect(sample.plan(on: 83).lines == ["add 83: waits", "next -"])
        try sample.add(.b, on: 84, sealsFrom: nil)
        #expect(sample.plan(on: 90).lines == ["next promote B 91 blocked"])
        #expect(sample.plan(on: 91).lines == ["promote B 91 blocked", "next -"])
        #expect(sample.plan(on: 91, enough: false).lines == ["promote B 91 blocked", "next -"])
        #expect(sample.plan(on: 300, enough: true).lines == ["promote B 91", "next -"])
        try sample.promote(.b, on: 300)
        #expect(sample.plan(on: 300).lines == ["next add 383: waits"])
    }

    @Test("a second key that must be promoted is promoted one rotation after the first")
    func twoKeysThatWait() throws {
        var sample = TimelineInDays()
        try sample.add(.b, on: 80, sealsFrom: nil)
        try sample.add(.c, on: 81, sealsFrom: nil)
        #expect(sample.plan(on: 100).lines == ["promote B 87", "next -"])
        try sample.promote(.b, on: 100)
        #expect(sample.plan(on: 100).lines == ["next promote C 190"])
    }

    @Test("a key that must be promoted is promoted one rotation after a pending key with a time")
    func waitingBehindAPendingKey() throws {
        var sample = TimelineInDays()
        try sample.add(.b, on: 80, sealsFrom: 90)
        try sample.add(.c, on: 81, sealsFrom: nil)
        #expect(sample.plan(on: 89).lines == ["next promote C 180"])
    }

    @Test("a shorter rotateEvery makes the next key due earlier")
    func shorterRotation() throws {
        var sample = TimelineInDays()
        try sample.adopt(.days(30, lead: 7), on: 50)
        #expect(sample.plan(on: 50).lines == ["add 23: seals from 57", "next -"])
    }

    @Test("each step has its reason as a sentence")
    func reasons() throws {
        var sample = TimelineInDays(.days(90, lead: 7, gated: true))
        try sample.add(.b, on: 83, sealsFrom: nil)
        let unknown = try #require(sample.plan(on: 95).blocked.first)
        #expect(unknown.blockedBy?.contains("99.9% of the devices") == true)
        #expect(sample.plan(on: 95, enough: false).blocked.first?.blockedBy == "reports")
        #expect(sample.plan(on: 95, enough: true).due.first?.why.hasSuffix("; reports") == true)
        try sample.promote(.b, on: 95)
        let step = try #require(sample.plan(on: 186).due.first { $0.action == .destroy(.a) })
        #expect(step.why.contains("1970-07-05T00:10:00Z"))
        #expect(step.why.contains("before 1970-04-06T00:00:00Z"))
    }

    @Test("the reason to erase a revoked key is its revocation, and that of a key that never sealed says so")
    func erasureReasons() throws {
        func why(_ sample: TimelineInDays, _ kid: KeyID) throws -> String {
            try #require(sample.plan(on: 300).due.first { $0.action == .destroy(kid) }).why
        }
        var revoked = TimelineInDays()
        try revoked.revoke(.a, on: 50, addingNow: .b)
        let start = "it has opened nothing since it was revoked at"
        let sealed = "the last push was sealed with it before"
        let end = ", and no push is valid for more than 30 days, so `reseal` needs it no longer"
        #expect(try why(revoked, .a) == "\(start) 1970-02-20T00:00:00Z; \(sealed) 1970-02-20T00:00:00Z\(end)")
        // Retired on day 90, and then revoked.
        var retired = TimelineInDays()
        try retired.add(.b, on: 83, sealsFrom: 90)
        try retired.revoke(.a, on: 100)
        #expect(try why(retired, .a) == "\(start) 1970-04-11T00:00:00Z; \(sealed) 1970-04-01T00:00:00Z\(end)")
        var pending = TimelineInDays()
        try pending.add(.b, on: 83, sealsFrom: 90)
        try pending.revoke(.b, on: 84)
        #expect(try why(pending, .b) == "\(start) 1970-03-26T00:00:00Z; it never sealed a push")
    }

    @Test("a plan for a time before the last change is that of the last change")
    func theLastChangeClamps() throws {
        var sample = TimelineInDays()
        sample.timeline.updatedAt = .days(84)
        #expect(sample.plan(on: 3).at == .days(84))
        #expect(sample.plan(on: 3).lines == ["add 83: seals from 91", "next -"])
    }

    @Test("each step has the name of its action")
    func names() {
        let actions: [RotationPlan.Action] = [.add(activatesAt: nil), .promote(.a), .destroy(.b)]
        #expect(actions.map(\.name) == ["add", "promote", "destroy"])
        #expect(actions.map(\.kid) == [nil, .a, .b])
    }

    @Test("No step of publisher keys is ever due", arguments: [0, 83, 90, 400, 36_500] as [Int64])
    func publishers(day: Int64) throws {
        var sample = TimelineInDays()
        try sample.add(.b, on: 1, sealsFrom: nil)
        let plan = RotationPlan(publishers: sample.timeline, at: .days(day))
        #expect(plan.due.isEmpty && plan.blocked.isEmpty && plan.next == nil)
        #expect(plan.exemption?.contains("app update") == true)
    }
}
