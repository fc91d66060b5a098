import PushCryptCore
import Testing

/// Keys that are revoked or destroyed.
@Suite struct RevokeAndDestroyTests {
    private let a = TimelineInDays.a
    private let b = TimelineInDays.b
    private let c = TimelineInDays.c

    /// A rotation with A retiring, B sealing, C pending.
    private func rotating() throws -> TimelineInDays {
        var sample = TimelineInDays()
        try sample.add(b, on: 83, sealsFrom: 90)
        try sample.add(c, on: 173, sealsFrom: 180)
        return sample
    }

    @Test("revoking the primary ends it and returns the loss")
    func revokingThePrimary() throws {
        var sample = try rotating()
        #expect(LifecycleError.code { try sample.revoke(b, on: 175) } == .invariantBroken)
        #expect(try sample.revoke(b, on: 175, addingNow: TimelineInDays.d).count == 1)
        #expect(
            sample.lines == ["A 0 90 180+10m", "B 90 180 270+10m revoked 175", "C 180 - -", "D 175 180 270+10m"])
        #expect(sample.states(on: 175) == "retiring revoked pending primary")
        #expect(sample.states(on: 180) == "retiring revoked primary retiring")
    }

    @Test("revoking the primary doesn't change the time of a pending key")
    func revokingThePrimaryForAPendingKey() throws {
        var sample = try rotating()
        try sample.on(175, givingUp: [b]) { timeline, now, policy throws(LifecycleError) in
            _ = try timeline.revoke(b, at: now, policy)
            _ = try timeline.promote(c, at: now, policy, force: true)
        }
        #expect(sample.lines == ["A 0 90 180+10m", "B 90 180 270+10m revoked 175", "C 175 - -"])
    }

    @Test("revoking a pending key loses nothing, and its predecessor continues to seal")
    func revokingAPendingKey() throws {
        var sample = try rotating()
        #expect(try sample.revoke(c, on: 175) == [])
        #expect(sample.lines == ["A 0 90 180+10m", "B 90 - -", "C 180 - 265+10m revoked 175"])
        #expect(sample.plan(on: 176).lines == ["add 173: seals from 183", "next destroy A 180+10m"])
    }

    @Test("revoking one of several pending keys reschedules the others")
    func revokingOneOfSeveralPendingKeys() throws {
        var sample = TimelineInDays()
        try sample.add(b, on: 10, sealsFrom: 60)
        try sample.add(c, on: 10, sealsFrom: 90)
        try sample.revoke(b, on: 20)
        #expect(sample.lines == ["A 0 90 180+10m", "B 60 90 180+10m revoked 20", "C 90 - -"])
        try sample.destroy(b, on: 20, force: true)
        try sample.destroy(c, on: 20, force: true)
        #expect(
            sample.lines == ["A 0 - -", "B 60 90 180+10m revoked 20 destroyed 20", "C 90 - - destroyed 20"])
    }

    @Test("revoking a retired key keeps its expiry")
    func revokingARetiredKey() throws {
        var sample = try rotating()
        #expect(try sample.revoke(a, on: 179).count == 1)
        #expect(sample.lines[0] == "A 0 90 180+10m revoked 179")
        sample = try rotating()
        #expect(try sample.revoke(a, on: 190) == [])
        #expect(sample.lines[0] == "A 0 90 180+10m revoked 190")
        #expect(sample.states(on: 190) == "revoked retiring primary")
        #expect(try sample.destroy(a, on: 190) == [])
        for kid in [a, TimelineInDays.d] {
            let refusal = LifecycleError.code { try sample.revoke(kid, on: 191) }
            #expect(refusal == (kid == a ? .wrongState : .unknownKey))
        }
    }

    @Test("destroying a revoked key is blocked until its overlap ends")
    func destroyingARevokedKey() throws {
        var sample = TimelineInDays()
        try sample.revoke(a, on: 40, addingNow: b)
        #expect(sample.lines == ["A 0 - 130+10m revoked 40", "B 40 - -"])
        #expect(LifecycleError.code { try sample.destroy(a, on: 130) } == .blocked)
        #expect(sample.plan(on: 130).lines == ["add 123: seals from 137", "next destroy A 130+10m"])
        #expect(try sample.destroy(a, on: 131) == [])
    }

    @Test(
        "destroying a key that is still needed is refused with its code",
        arguments: [
            (TimelineInDays.a, 175, LifecycleError.Code.blocked), (TimelineInDays.b, 175, .invariantBroken),
            (TimelineInDays.c, 175, .blocked),
            (TimelineInDays.d, 175, .unknownKey), (TimelineInDays.a, 181, nil), (TimelineInDays.b, 181, .blocked),
            (TimelineInDays.c, 181, .invariantBroken),
        ] as [(KeyID, Int64, LifecycleError.Code?)])
    func destroyingWithoutForce(kid: KeyID, day: Int64, refusal: LifecycleError.Code?) throws {
        var sample = try rotating()
        let before = sample.timeline
        #expect(LifecycleError.code { try sample.destroy(kid, on: day) } == refusal)
        #expect(refusal == nil || sample.timeline == before)
    }

    @Test("a forced destruction returns its loss")
    func destroyingWithForce() throws {
        var sample = try rotating()
        #expect(try sample.destroy(a, on: 175, force: true).count == 1)
        #expect(try sample.destroy(c, on: 175, force: true).count == 1)
        #expect(sample.lines == ["A 0 90 180+10m destroyed 175", "B 90 - -", "C 180 - - destroyed 175"])
        #expect(LifecycleError.code { try sample.destroy(b, on: 175, force: true) } == .invariantBroken)
        #expect(LifecycleError.code { try sample.destroy(a, on: 999, force: true) } == .wrongState)
    }

    @Test("a key can be destroyed from the second of its expiry on")
    func destroyingAtTheBoundary() throws {
        var sample = try rotating()
        let end = UnixTime.days(180) + 600
        sample.timeline.updatedAt = end - 1
        #expect(LifecycleError.code { try sample.destroy(a, on: 0) } == .blocked)
        sample.timeline.updatedAt = end
        #expect(try sample.destroy(a, on: 0) == [])
    }
}
