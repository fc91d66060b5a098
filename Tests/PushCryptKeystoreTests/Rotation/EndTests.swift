import PushCryptCore
import PushCryptKeystore
import Testing

/// Keys that are withdrawn or erased.
@Suite struct EndTests {
    private let a = Lives.a
    private let b = Lives.b
    private let c = Lives.c

    /// A rotation with A retiring, B sealing, C pending.
    private func rotating() throws -> Lives {
        var lives = Lives()
        try lives.add(b, on: 83, sealsFrom: 90)
        try lives.add(c, on: 173, sealsFrom: 180)
        return lives
    }

    @Test func revokingThePrimary() throws {
        var lives = try rotating()
        #expect(LifecycleError.code { try lives.revoke(b, on: 175) } == .invariantBroken)
        #expect(try lives.revoke(b, on: 175, addingNow: Lives.d).count == 1)
        #expect(
            lives.lines == ["A 0 90 180+10m", "B 90 180 270+10m revoked 175", "C 180 - -", "D 175 180 270+10m"])
        #expect(lives.states(on: 175) == "retiring revoked pending primary")
        #expect(lives.states(on: 180) == "retiring revoked primary retiring")
    }

    /// A key that retired never seals again, and the one that was pending still begins when it was to.
    @Test func revokingThePrimaryForAPendingKey() throws {
        var lives = try rotating()
        try lives.on(175, givingUp: [b]) { timeline, now, policy throws(LifecycleError) in
            _ = try timeline.revoke(b, at: now, policy)
            _ = try timeline.promote(c, at: now, policy, force: true)
        }
        #expect(lives.lines == ["A 0 90 180+10m", "B 90 180 270+10m revoked 175", "C 175 - -"])
    }

    /// Nothing was sealed with it, so nothing is lost; the key before it goes on.
    @Test func revokingAPendingKey() throws {
        var lives = try rotating()
        #expect(try lives.revoke(c, on: 175) == [])
        #expect(lives.lines == ["A 0 90 180+10m", "B 90 - -", "C 180 - 265+10m revoked 175"])
        #expect(lives.plan(on: 176).lines == ["add 173: seals from 183", "next destroy A 180+10m"])
    }

    @Test func revokingOneOfSeveralPendingKeys() throws {
        var lives = Lives()
        try lives.add(b, on: 10, sealsFrom: 60)
        try lives.add(c, on: 10, sealsFrom: 90)
        try lives.revoke(b, on: 20)
        #expect(lives.lines == ["A 0 90 180+10m", "B 60 90 180+10m revoked 20", "C 90 - -"])
        try lives.destroy(b, on: 20, force: true)
        try lives.destroy(c, on: 20, force: true)
        #expect(
            lives.lines == ["A 0 - -", "B 60 90 180+10m revoked 20 destroyed 20", "C 90 - - destroyed 20"])
    }

    /// What was sealed with it was sealed before: its material goes when it was to go.
    @Test func revokingAKeyThatSealsNoMore() throws {
        var lives = try rotating()
        #expect(try lives.revoke(a, on: 179).count == 1)
        #expect(lives.lines[0] == "A 0 90 180+10m revoked 179")
        lives = try rotating()
        #expect(try lives.revoke(a, on: 190) == [])
        #expect(lives.lines[0] == "A 0 90 180+10m revoked 190")
        #expect(lives.states(on: 190) == "revoked retiring primary")
        #expect(try lives.destroy(a, on: 190) == [])
        for kid in [a, Lives.d] {
            let refusal = LifecycleError.code { try lives.revoke(kid, on: 191) }
            #expect(refusal == (kid == a ? .wrongState : .unknownKey))
        }
    }

    /// The material of a revoked primary stays for `reseal` until its overlap is over.
    @Test func destroyingARevokedKey() throws {
        var lives = Lives()
        try lives.revoke(a, on: 40, addingNow: b)
        #expect(lives.lines == ["A 0 - 130+10m revoked 40", "B 40 - -"])
        #expect(LifecycleError.code { try lives.destroy(a, on: 130) } == .blocked)
        #expect(lives.plan(on: 130).lines == ["add 123: seals from 137", "next destroy A 130+10m"])
        #expect(try lives.destroy(a, on: 131) == [])
    }

    @Test(
        arguments: [
            (Lives.a, 175, LifecycleError.Code.blocked), (Lives.b, 175, .invariantBroken), (Lives.c, 175, .blocked),
            (Lives.d, 175, .unknownKey), (Lives.a, 181, nil), (Lives.b, 181, .blocked),
            (Lives.c, 181, .invariantBroken),
        ] as [(KeyID, Int64, LifecycleError.Code?)])
    func destroyingWithoutForce(kid: KeyID, day: Int64, refusal: LifecycleError.Code?) throws {
        var lives = try rotating()
        let before = lives.timeline
        #expect(LifecycleError.code { try lives.destroy(kid, on: day) } == refusal)
        #expect(refusal == nil || lives.timeline == before)
    }

    @Test func destroyingWithForce() throws {
        var lives = try rotating()
        #expect(try lives.destroy(a, on: 175, force: true).count == 1)
        #expect(try lives.destroy(c, on: 175, force: true).count == 1)
        #expect(lives.lines == ["A 0 90 180+10m destroyed 175", "B 90 - -", "C 180 - - destroyed 175"])
        #expect(LifecycleError.code { try lives.destroy(b, on: 175, force: true) } == .invariantBroken)
        #expect(LifecycleError.code { try lives.destroy(a, on: 999, force: true) } == .wrongState)
    }

    /// Its last second, and the first one after.
    @Test func destroyingAtTheBoundary() throws {
        var lives = try rotating()
        let end = UnixTime.days(180) + 600
        lives.timeline.updatedAt = end - 1
        #expect(LifecycleError.code { try lives.destroy(a, on: 0) } == .blocked)
        lives.timeline.updatedAt = end
        #expect(try lives.destroy(a, on: 0) == [])
    }
}
