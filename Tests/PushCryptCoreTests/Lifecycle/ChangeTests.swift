import PushCryptCore
import Testing

/// Each change by itself, under 90 days, 7 days, 30 days, 2 keys: a retired key opens for 90 days and ten minutes.
@Suite struct ChangeTests {
    struct Change: Sendable, CustomStringConvertible {
        let description: String
        let lines: [String]
        let states: [Int64: String]
        let steps: @Sendable (inout TimelineInDays) throws -> Void

        init(
            _ description: String, _ lines: [String], states: [Int64: String] = [:],
            _ steps: @escaping @Sendable (inout TimelineInDays) throws -> Void
        ) {
            (self.description, self.lines, self.states, self.steps) = (description, lines, states, steps)
        }

        func expect(after start: TimelineInDays) throws {
            var sample = start
            try steps(&sample)
            #expect(sample.lines == lines)
            for (day, expected) in states { #expect(sample.states(on: day) == expected, "day \(day)") }
        }
    }

    @Test(
        "a change of a keyset with key A gives its keys their times",
        arguments: [
            Change(
                "a successor ends its predecessor", ["A 0 90 180+10m", "B 90 - -"],
                states: [89: "primary pending", 90: "retiring primary", 181: "expired primary"]
            ) { try $0.add(.b, on: 83, sealsFrom: 90) },
            Change(
                "a successor that waits leaves its predecessor without an end", ["A 0 - -", "B - - -"],
                states: [9_999: "primary pending"]
            ) { try $0.add(.b, on: 83, sealsFrom: nil) },
            Change("a key with a past time seals from now on", ["A 0 83 173+10m", "B 83 - -"]) {
                try $0.add(.b, on: 83, sealsFrom: 50)
            },
            Change("a key with the present time seals from now on", ["A 0 83 173+10m", "B 83 - -"]) {
                try $0.add(.b, on: 83, sealsFrom: 83)
            },
            Change("pending keys seal in the order of their times", ["A 0 50 140+10m", "B 90 - -", "C 50 90 180+10m"]) {
                try $0.add(.b, on: 10, sealsFrom: 90)
                try $0.add(.c, on: 11, sealsFrom: 50)
            },
            Change(
                "of two keys with one time the last seals",
                ["A 0 50 140+10m", "B 90 90 180+10m", "C 50 90 180+10m", "D 90 - -"],
                states: [90: "retiring retiring retiring primary"]
            ) {
                try $0.add(.b, on: 10, sealsFrom: 90)
                try $0.add(.c, on: 11, sealsFrom: 50)
                try $0.add(.d, on: 12, sealsFrom: 90)
            },
            Change("a forced early promotion returns its loss", ["A 0 84 174+10m", "B 84 - -"]) { sample throws in
                try sample.add(.b, on: 83, sealsFrom: 90)
                #expect(try sample.promote(.b, on: 84, force: true).count == 1)
            },
            Change("a promotion leaves another key's time", ["A 0 30 120+10m", "B 60 - -", "C 30 60 150+10m"]) {
                try $0.add(.b, on: 1, sealsFrom: 60)
                try $0.add(.c, on: 1, sealsFrom: nil)
                try $0.promote(.c, on: 30)
            },
            Change(
                "a revoked pending key's time goes to the next",
                ["A 0 90 180+10m", "B 60 90 180+10m revoked 20", "C 90 - -"]
            ) {
                try $0.add(.b, on: 10, sealsFrom: 60)
                try $0.add(.c, on: 10, sealsFrom: 90)
                try $0.revoke(.b, on: 20)
            },
            Change(
                "both pending keys are destroyed",
                ["A 0 - -", "B 60 90 180+10m revoked 20 destroyed 20", "C 90 - - destroyed 20"]
            ) {
                try $0.add(.b, on: 10, sealsFrom: 60)
                try $0.add(.c, on: 10, sealsFrom: 90)
                try $0.revoke(.b, on: 20)
                try $0.destroy(.b, on: 20, force: true)
                try $0.destroy(.c, on: 20, force: true)
            },
        ])
    func changeOfOneKey(change: Change) throws { try change.expect(after: TimelineInDays()) }

    /// A retiring since 90, B sealing until 180, C pending.
    private static func rotating() throws -> TimelineInDays {
        var sample = TimelineInDays()
        try sample.add(.b, on: 83, sealsFrom: 90)
        try sample.add(.c, on: 173, sealsFrom: 180)
        return sample
    }

    @Test(
        "a change during a rotation gives the keys their times",
        arguments: [
            Change(
                "a revocation of the primary ends it and returns the loss",
                ["A 0 90 180+10m", "B 90 180 270+10m revoked 175", "C 180 - -", "D 175 180 270+10m"],
                states: [175: "retiring revoked pending primary", 180: "retiring revoked primary retiring"]
            ) { sample throws in
                #expect(LifecycleError.code { try sample.revoke(.b, on: 175) } == .invariantBroken)
                #expect(try sample.revoke(.b, on: 175, addingNow: .d).count == 1)
            },
            Change(
                "a pending key succeeds a revoked primary",
                ["A 0 90 180+10m", "B 90 180 270+10m revoked 175", "C 175 - -"]
            ) { sample throws in
                try sample.on(175, givingUp: [.b]) { timeline, now, policy throws(LifecycleError) in
                    _ = try timeline.revoke(.b, at: now, policy)
                    _ = try timeline.promote(.c, at: now, policy, force: true)
                }
            },
            Change(
                "a revoked pending key's predecessor seals on",
                ["A 0 90 180+10m", "B 90 - -", "C 180 - 265+10m revoked 175"]
            ) { sample throws in
                #expect(try sample.revoke(.c, on: 175) == [])
                #expect(sample.plan(on: 176).lines == ["add 173: seals from 183", "next destroy A 180+10m"])
            },
            Change(
                "forced destructions", ["A 0 90 180+10m destroyed 175", "B 90 - -", "C 180 - - destroyed 175"]
            ) { sample throws in
                #expect(try sample.destroy(.a, on: 175, force: true).count == 1)
                #expect(try sample.destroy(.c, on: 175, force: true).count == 1)
                #expect(LifecycleError.code { try sample.destroy(.b, on: 175, force: true) } == .invariantBroken)
                #expect(LifecycleError.code { try sample.destroy(.a, on: 999, force: true) } == .wrongState)
            },
            Change(
                "a longer overlap extends expiries", ["A 0 90 290+10m", "B 90 180 380+10m", "C 180 - -"]
            ) { sample throws in #expect(try sample.adopt(.days(90, lead: 7, overlap: 200), on: 175) == []) },
            Change(
                "a shorter overlap keeps expiries", ["A 0 90 180+10m", "B 90 180 270+10m", "C 180 - -"]
            ) { try $0.adopt(.days(90, lead: 7, keep: 1), on: 175) },
            Change(
                "a greater keep extends expiries", ["A 0 90 360+10m", "B 90 180 450+10m", "C 180 - -"]
            ) { try $0.adopt(.days(90, lead: 7, keep: 4), on: 175) },
            Change(
                "a longer lead postpones a pending key", ["A 0 90 180+10m", "B 90 193 283+10m", "C 193 - -"]
            ) { sample throws in
                #expect(try sample.adopt(.days(90, lead: 20), on: 175) == [.c])
                #expect(try sample.adopt(.days(90, lead: 30), on: 194) == [])
            },
            Change(
                "a shorter lead changes nothing", ["A 0 90 180+10m", "B 90 180 270+10m", "C 180 - -"]
            ) { sample throws in #expect(try sample.adopt(.days(90, lead: 1), on: 175) == []) },
        ])
    func changeDuringARotation(change: Change) throws { try change.expect(after: Self.rotating()) }

    @Test("a retired key's end under a shorter overlap follows the new policy when it changes")
    func newEndUnderAShorterOverlap() throws {
        var sample = try Self.rotating()
        try sample.adopt(.days(90, lead: 7, keep: 1), on: 175)
        try sample.revoke(.c, on: 176)
        try sample.add(.d, on: 176, sealsFrom: 190)
        #expect(sample.lines[1] == "B 90 190 220+10m")
    }

    @Test("a longer overlap doesn't revive expired or destroyed keys")
    func longerOverlapTooLate() throws {
        var sample = try Self.rotating()
        try sample.adopt(.days(90, lead: 7, overlap: 200), on: 181)
        #expect(sample.lines[0] == "A 0 90 180+10m")
        sample = try Self.rotating()
        try sample.destroy(.a, on: 175, force: true)
        try sample.revoke(.b, on: 176, addingNow: .d)
        let before = sample.lines
        try sample.adopt(.days(90, lead: 7, overlap: 200), on: 177)
        #expect(sample.lines[..<2] == before[..<2])
    }

    @Test("required coverage makes a pending key wait for its promotion")
    func gate() throws {
        var sample = try Self.rotating()
        #expect(try sample.adopt(.days(90, lead: 7, gated: true), on: 175) == [.c])
        #expect(sample.lines == ["A 0 90 180+10m", "B 90 - -", "C - - -"])
        #expect(sample.plan(on: 179).lines == ["next promote C 180 blocked"])
        #expect(sample.plan(on: 190, enough: false).lines == ["destroy A 180+10m", "promote C 180 blocked", "next -"])
        #expect(sample.plan(on: 190, enough: true).due.map(\.line) == ["promote C 180", "destroy A 180+10m"])
    }

    @Test("without required coverage a waiting key still needs its promotion")
    func noGateAnyMore() throws {
        var sample = TimelineInDays(.days(90, lead: 7, gated: true))
        try sample.add(.b, on: 83, sealsFrom: nil)
        #expect(try sample.adopt(.standard, on: 84) == [])
        #expect(sample.lines == ["A 0 - -", "B - - -"])
        #expect(sample.plan(on: 89).lines == ["next promote B 90"])
        #expect(sample.plan(on: 90).due.map(\.line) == ["promote B 90"])
    }

    @Test("adding a key with a used id throws idTaken")
    func usedID() throws {
        var sample = TimelineInDays()
        try sample.add(.b, on: 1, sealsFrom: 90)
        try sample.revoke(.b, on: 2)
        try sample.destroy(.b, on: 2, force: true)
        for kid in [KeyID.a, .b] {
            #expect(LifecycleError.code { try sample.add(kid, on: 3, sealsFrom: nil) } == .idTaken)
        }
    }

    @Test("promoting a pending key makes it the primary and retires the previous one")
    func promotion() throws {
        var sample = TimelineInDays()
        try sample.add(.b, on: 83, sealsFrom: nil)
        #expect(LifecycleError.code { try sample.promote(.b, on: 89) } == .blocked)
        #expect(try sample.promote(.b, on: 90) == [])
        #expect(sample.lines == ["A 0 90 180+10m", "B 90 - -"])
        #expect(LifecycleError.code { try sample.promote(.b, on: 91) } == .wrongState)
        #expect(LifecycleError.code { try sample.promote(.a, on: 91) } == .wrongState)
        #expect(LifecycleError.code { try sample.promote(.c, on: 91) } == .unknownKey)
    }

    @Test(
        "promotions in one second make the last promoted key the primary, in any order of ids",
        arguments: [[.b, .c], [.c, .b]] as [[KeyID]])
    func promotedWhileTheClockStands(order: [KeyID]) throws {
        var sample = TimelineInDays()
        try sample.add(.b, on: 40, sealsFrom: nil)
        try sample.add(.c, on: 40, sealsFrom: nil)
        try sample.promote(order[0], on: 50)
        try sample.promote(order[1], on: 20)
        #expect(sample.timeline.primary(at: .days(20))?.kid == order[1])
        try sample.add(.d, on: 10, sealsFrom: 10)
        #expect(sample.timeline.primary(at: .days(10))?.kid == .d)
        #expect(sample.lines.filter { $0.hasSuffix("50 50 140+10m") }.count == 2)
    }

    @Test("promoting a key without createdAt is blocked unless it is forced")
    func promotedWithoutACreationTime() throws {
        var sample = TimelineInDays(.standard, [(.a, .init(activatesAt: .days(0))), (.b, .init())], updatedAt: 5)
        #expect(LifecycleError.code { try sample.promote(.b, on: 500) } == .blocked)
        #expect(try sample.promote(.b, on: 500, force: true).count == 1)
        #expect(sample.lines == ["A 0 500 590+10m", "B 500 - -"])
    }

    @Test("revoking a retired key keeps its expiry")
    func revokingARetiredKey() throws {
        var sample = try Self.rotating()
        #expect(try sample.revoke(.a, on: 179).count == 1)
        #expect(sample.lines[0] == "A 0 90 180+10m revoked 179")
        sample = try Self.rotating()
        #expect(try sample.revoke(.a, on: 190) == [])
        #expect(sample.lines[0] == "A 0 90 180+10m revoked 190")
        #expect(sample.states(on: 190) == "revoked retiring primary")
        #expect(try sample.destroy(.a, on: 190) == [])
        #expect(LifecycleError.code { try sample.revoke(.a, on: 191) } == .wrongState)
        #expect(LifecycleError.code { try sample.revoke(.d, on: 191) } == .unknownKey)
    }

    @Test("destroying a revoked key is blocked until its overlap ends")
    func destroyingARevokedKey() throws {
        var sample = TimelineInDays()
        try sample.revoke(.a, on: 40, addingNow: .b)
        #expect(sample.lines == ["A 0 - 130+10m revoked 40", "B 40 - -"])
        #expect(LifecycleError.code { try sample.destroy(.a, on: 130) } == .blocked)
        #expect(sample.plan(on: 130).lines == ["add 123: seals from 137", "next destroy A 130+10m"])
        #expect(try sample.destroy(.a, on: 131) == [])
    }

    @Test(
        "destroying a key that is still needed is refused with its code",
        arguments: [
            (.a, 175, .blocked), (.b, 175, .invariantBroken), (.c, 175, .blocked), (.d, 175, .unknownKey),
            (.a, 181, nil), (.b, 181, .blocked), (.c, 181, .invariantBroken),
        ] as [(KeyID, Int64, LifecycleError.Code?)])
    func destroyingWithoutForce(kid: KeyID, day: Int64, refusal: LifecycleError.Code?) throws {
        var sample = try Self.rotating()
        let before = sample.timeline
        #expect(LifecycleError.code { try sample.destroy(kid, on: day) } == refusal)
        #expect(refusal == nil || sample.timeline == before)
    }

    @Test("a key can be destroyed from the second of its expiry on")
    func destroyingAtTheBoundary() throws {
        var sample = try Self.rotating()
        let end = UnixTime.days(180) + 600
        sample.timeline.updatedAt = end - 1
        #expect(LifecycleError.code { try sample.destroy(.a, on: 0) } == .blocked)
        sample.timeline.updatedAt = end
        #expect(try sample.destroy(.a, on: 0) == [])
    }
}
