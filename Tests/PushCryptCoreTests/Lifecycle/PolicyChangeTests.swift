import PushCryptCore
import Testing

/// A new policy for existing keys.
@Suite struct PolicyChangeTests {
    private let a = TimelineInDays.a
    private let b = TimelineInDays.b
    private let c = TimelineInDays.c

    /// A retiring since 90, B sealing until 180, C pending.
    private func rotating() throws -> TimelineInDays {
        var sample = TimelineInDays()
        try sample.add(b, on: 83, sealsFrom: 90)
        try sample.add(c, on: 173, sealsFrom: 180)
        return sample
    }

    @Test("a longer overlap extends the expiry of retired keys")
    func aLongerOverlap() throws {
        var sample = try rotating()
        #expect(try sample.adopt(.days(90, lead: 7, overlap: 200), on: 175) == [])
        #expect(sample.lines == ["A 0 90 290+10m", "B 90 180 380+10m", "C 180 - -"])
    }

    @Test("a shorter overlap keeps the expiry of retired keys")
    func aShorterOverlap() throws {
        var sample = try rotating()
        try sample.adopt(.days(90, lead: 7, keep: 1), on: 175)
        #expect(sample.lines == ["A 0 90 180+10m", "B 90 180 270+10m", "C 180 - -"])
        // A new end follows the new policy.
        try sample.revoke(c, on: 176)
        try sample.add(TimelineInDays.d, on: 176, sealsFrom: 190)
        #expect(sample.lines[1] == "B 90 190 220+10m")
    }

    @Test("a greater keep extends the expiry of retired keys")
    func moreKeys() throws {
        var sample = try rotating()
        try sample.adopt(.days(90, lead: 7, keep: 4), on: 175)
        #expect(sample.lines == ["A 0 90 360+10m", "B 90 180 450+10m", "C 180 - -"])
    }

    @Test("a longer overlap doesn't revive expired or destroyed keys")
    func aLongerOverlapTooLate() throws {
        var sample = try rotating()
        try sample.adopt(.days(90, lead: 7, overlap: 200), on: 181)
        #expect(sample.lines[0] == "A 0 90 180+10m")
        sample = try rotating()
        try sample.destroy(a, on: 175, force: true)
        try sample.revoke(b, on: 176, addingNow: TimelineInDays.d)
        let before = sample.lines
        try sample.adopt(.days(90, lead: 7, overlap: 200), on: 177)
        #expect(sample.lines[..<2] == before[..<2])
    }

    @Test("required coverage makes a pending key wait for its promotion")
    func aGate() throws {
        var sample = try rotating()
        #expect(try sample.adopt(.days(90, lead: 7, gated: true), on: 175) == [c])
        #expect(sample.lines == ["A 0 90 180+10m", "B 90 - -", "C - - -"])
        #expect(sample.plan(on: 179).lines == ["next promote C 180 blocked"])
        #expect(sample.plan(on: 190, enough: false).lines == ["destroy A 180+10m", "promote C 180 blocked", "next -"])
        #expect(sample.plan(on: 190, enough: true).due.map(\.line) == ["promote C 180", "destroy A 180+10m"])
    }

    @Test("without required coverage a waiting key still needs its promotion")
    func noGateAnyMore() throws {
        var sample = TimelineInDays(.days(90, lead: 7, gated: true))
        try sample.add(b, on: 83, sealsFrom: nil)
        #expect(try sample.adopt(.standard, on: 84) == [])
        #expect(sample.lines == ["A 0 - -", "B - - -"])
        #expect(sample.plan(on: 89).lines == ["next promote B 90"])
        #expect(sample.plan(on: 90).due.map(\.line) == ["promote B 90"])
    }

    @Test("a longer publishLead postpones a pending key")
    func aLongerLead() throws {
        var sample = try rotating()
        #expect(try sample.adopt(.days(90, lead: 20), on: 175) == [c])
        #expect(sample.lines == ["A 0 90 180+10m", "B 90 193 283+10m", "C 193 - -"])
        #expect(try sample.adopt(.days(90, lead: 30), on: 194) == [])
        #expect(sample.lines[2] == "C 193 - -")
    }

    @Test("a shorter publishLead doesn't change a pending key")
    func aShorterLead() throws {
        var sample = try rotating()
        #expect(try sample.adopt(.days(90, lead: 1), on: 175) == [])
        #expect(sample.lines == ["A 0 90 180+10m", "B 90 180 270+10m", "C 180 - -"])
    }

    @Test("a shorter rotateEvery makes the next key due earlier")
    func aShorterRotation() throws {
        var sample = TimelineInDays()
        try sample.adopt(.days(30, lead: 7), on: 50)
        #expect(sample.plan(on: 50).lines == ["add 23: seals from 57", "next -"])
    }
}
