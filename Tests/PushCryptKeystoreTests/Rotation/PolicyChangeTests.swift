import PushCryptCore
import PushCryptKeystore
import Testing

/// A new policy over keys that are on their way already.
@Suite struct PolicyChangeTests {
    private let a = Lives.a
    private let b = Lives.b
    private let c = Lives.c

    /// A retiring since 90, B sealing until 180, C pending.
    private func rotating() throws -> Lives {
        var lives = Lives()
        try lives.add(b, on: 83, sealsFrom: 90)
        try lives.add(c, on: 173, sealsFrom: 180)
        return lives
    }

    @Test func aLongerOverlap() throws {
        var lives = try rotating()
        #expect(try lives.adopt(.days(90, lead: 7, overlap: 200), on: 175) == [])
        #expect(lives.lines == ["A 0 90 290+10m", "B 90 180 380+10m", "C 180 - -"])
    }

    @Test func aShorterOverlap() throws {
        var lives = try rotating()
        try lives.adopt(.days(90, lead: 7, keep: 1), on: 175)
        #expect(lives.lines == ["A 0 90 180+10m", "B 90 180 270+10m", "C 180 - -"])
        // A new end is one by the new policy.
        try lives.revoke(c, on: 176)
        try lives.add(Lives.d, on: 176, sealsFrom: 190)
        #expect(lives.lines[1] == "B 90 190 220+10m")
    }

    @Test func moreKeys() throws {
        var lives = try rotating()
        try lives.adopt(.days(90, lead: 7, keep: 4), on: 175)
        #expect(lives.lines == ["A 0 90 360+10m", "B 90 180 450+10m", "C 180 - -"])
    }

    /// What is over stays over; tombstones don't change.
    @Test func aLongerOverlapTooLate() throws {
        var lives = try rotating()
        try lives.adopt(.days(90, lead: 7, overlap: 200), on: 181)
        #expect(lives.lines[0] == "A 0 90 180+10m")
        lives = try rotating()
        try lives.destroy(a, on: 175, force: true)
        try lives.revoke(b, on: 176, addingNow: Lives.d)
        let before = lives.lines
        try lives.adopt(.days(90, lead: 7, overlap: 200), on: 177)
        #expect(lives.lines[..<2] == before[..<2])
    }

    /// A pending key waits under a gate that came after it.
    @Test func aGate() throws {
        var lives = try rotating()
        #expect(try lives.adopt(.days(90, lead: 7, gated: true), on: 175) == [c])
        #expect(lives.lines == ["A 0 90 180+10m", "B 90 - -", "C - - -"])
        #expect(lives.plan(on: 179).lines == ["next promote C 180 blocked"])
        #expect(lives.plan(on: 190, enough: false).lines == ["destroy A 180+10m", "promote C 180 blocked", "next -"])
        #expect(lives.plan(on: 190, enough: true).due.map(\.line) == ["promote C 180", "destroy A 180+10m"])
    }

    @Test func noGateAnyMore() throws {
        var lives = Lives(.days(90, lead: 7, gated: true))
        try lives.add(b, on: 83, sealsFrom: nil)
        #expect(try lives.adopt(.standard, on: 84) == [])
        #expect(lives.lines == ["A 0 - -", "B - - -"])
        #expect(lives.plan(on: 89).lines == ["next promote B 90"])
        #expect(lives.plan(on: 90).due.map(\.line) == ["promote B 90"])
    }

    @Test func aLongerLead() throws {
        var lives = try rotating()
        #expect(try lives.adopt(.days(90, lead: 20), on: 175) == [c])
        #expect(lives.lines == ["A 0 90 180+10m", "B 90 193 283+10m", "C 193 - -"])
        #expect(try lives.adopt(.days(90, lead: 30), on: 194) == [])
        #expect(lives.lines[2] == "C 193 - -")
    }

    @Test func aShorterLead() throws {
        var lives = try rotating()
        #expect(try lives.adopt(.days(90, lead: 1), on: 175) == [])
        #expect(lives.lines == ["A 0 90 180+10m", "B 90 180 270+10m", "C 180 - -"])
    }

    @Test func aShorterRotation() throws {
        var lives = Lives()
        try lives.adopt(.days(30, lead: 7), on: 50)
        #expect(lives.plan(on: 50).lines == ["add 23: seals from 57", "next -"])
    }
}
