import PushCryptCore
import Testing

/// Each change by itself, under 90 days, 7 days, 30 days, 2 keys: a retired key opens for 90 days and ten minutes.
@Suite struct ChangeTests {
    private let a = TimelineInDays.a
    private let b = TimelineInDays.b
    private let c = TimelineInDays.c
    private let d = TimelineInDays.d

    @Test("adding a key sets the end of its predecessor")
    func aSuccessorEndsItsPredecessor() throws {
        var sample = TimelineInDays()
        try sample.add(b, on: 83, sealsFrom: 90)
        #expect(sample.lines == ["A 0 90 180+10m", "B 90 - -"])
        #expect(sample.states(on: 89) == "primary pending")
        #expect(sample.states(on: 90) == "retiring primary")
        #expect(sample.states(on: 181) == "expired primary")
    }

    @Test("adding a key without activatesAt leaves the predecessor without an end")
    func aSuccessorThatWaits() throws {
        var sample = TimelineInDays()
        try sample.add(b, on: 83, sealsFrom: nil)
        #expect(sample.lines == ["A 0 - -", "B - - -"])
        #expect(sample.states(on: 9_999) == "primary pending")
    }

    @Test("a key that is added with a past time seals from now on", arguments: [50, 83])
    func aPastTimeCountsAsNow(sealsFrom: Int64) throws {
        var sample = TimelineInDays()
        try sample.add(b, on: 83, sealsFrom: sealsFrom)
        #expect(sample.lines == ["A 0 83 173+10m", "B 83 - -"])
    }

    @Test("several pending keys seal in the order of their times")
    func severalPendingKeys() throws {
        var sample = TimelineInDays()
        try sample.add(b, on: 10, sealsFrom: 90)
        try sample.add(c, on: 11, sealsFrom: 50)
        #expect(sample.lines == ["A 0 50 140+10m", "B 90 - -", "C 50 90 180+10m"])
        try sample.add(d, on: 12, sealsFrom: 90)
        // B and D have the same activatesAt: D, which was added later, seals, and B never does.
        #expect(sample.lines == ["A 0 50 140+10m", "B 90 90 180+10m", "C 50 90 180+10m", "D 90 - -"])
        #expect(sample.states(on: 90) == "retiring retiring retiring primary")
    }

    @Test("adding a key with a used id throws idTaken")
    func anIDIsNeverUsedAgain() throws {
        var sample = TimelineInDays()
        try sample.add(b, on: 1, sealsFrom: 90)
        try sample.revoke(b, on: 2)
        try sample.destroy(b, on: 2, force: true)
        for kid in [a, b] {
            let refusal = LifecycleError.code { try sample.add(kid, on: 3, sealsFrom: nil) }
            #expect(refusal == .idTaken)
        }
    }

    @Test("promoting a pending key makes it the primary and retires the previous one")
    func promotion() throws {
        var sample = TimelineInDays()
        try sample.add(b, on: 83, sealsFrom: nil)
        #expect(LifecycleError.code { try sample.promote(b, on: 89) } == .blocked)
        #expect(try sample.promote(b, on: 90) == [])
        #expect(sample.lines == ["A 0 90 180+10m", "B 90 - -"])
        #expect(LifecycleError.code { try sample.promote(b, on: 91) } == .wrongState)
        #expect(LifecycleError.code { try sample.promote(a, on: 91) } == .wrongState)
        #expect(LifecycleError.code { try sample.promote(c, on: 91) } == .unknownKey)
    }

    @Test("a forced early promotion returns its loss")
    func aForcedPromotionSaysWhatItLoses() throws {
        var sample = TimelineInDays()
        try sample.add(b, on: 83, sealsFrom: 90)
        #expect(try sample.promote(b, on: 84, force: true).count == 1)
        #expect(sample.lines == ["A 0 84 174+10m", "B 84 - -"])
    }

    @Test("promoting one pending key leaves the time of the other one")
    func promotedBeforeAnotherPendingKey() throws {
        var sample = TimelineInDays()
        try sample.add(b, on: 1, sealsFrom: 60)
        try sample.add(c, on: 1, sealsFrom: nil)
        try sample.promote(c, on: 30)
        #expect(sample.lines == ["A 0 30 120+10m", "B 60 - -", "C 30 60 150+10m"])
    }

    @Test(
        "promotions in one second make the last promoted key the primary, in any order of ids",
        arguments: [[TimelineInDays.b, TimelineInDays.c], [TimelineInDays.c, TimelineInDays.b]])
    func promotedWhileTheClockStands(order: [KeyID]) throws {
        var sample = TimelineInDays()
        try sample.add(b, on: 40, sealsFrom: nil)
        try sample.add(c, on: 40, sealsFrom: nil)
        try sample.promote(order[0], on: 50)
        try sample.promote(order[1], on: 20)
        #expect(sample.timeline.primary(at: .days(20))?.kid == order[1])
        try sample.add(d, on: 10, sealsFrom: 10)
        #expect(sample.timeline.primary(at: .days(10))?.kid == d)
        #expect(sample.lines.filter { $0.hasSuffix("50 50 140+10m") }.count == 2)
    }

    @Test("promoting a key without createdAt is blocked unless it is forced")
    func promotedWithoutACreationTime() throws {
        var sample = TimelineInDays(.standard, [(a, .init(activatesAt: .days(0))), (b, .init())], updatedAt: 5)
        #expect(LifecycleError.code { try sample.promote(b, on: 500) } == .blocked)
        #expect(try sample.promote(b, on: 500, force: true).count == 1)
        #expect(sample.lines == ["A 0 500 590+10m", "B 500 - -"])
    }
}
