import Foundation
import Testing

@Suite("rotate with a wrong clock", .ownThreads)
struct RotateClockTests {
    private let place: Workplace

    init() throws {
        place = try Workplace()
        try place.createAtNewYear("Keys/app")
    }

    @Test(
        "a clock far in the future blocks rotate without --confirm-clock",
        arguments: ["2027-02-06", "2036-03-01", "9000-01-01"])
    func future(_ day: String) throws {
        let before = try place.read("Keys/app/keyset.json")
        let plan = try place.rotate("Keys/app", at: day + "T00:00:00Z")
        #expect(plan.exit == 75)
        #expect(plan.blocked == ["add"] && plan.done.isEmpty)
        let because = plan.steps("blocked").first?["because"] as? String
        #expect(because?.contains("--confirm-clock") == true)
        #expect(try place.read("Keys/app/keyset.json") == before)
        #expect(try place.rotate("Keys/app", at: day + "T00:00:00Z", "--confirm-clock").done == ["add"])
    }

    @Test("a clock that was set back blocks changes, and states stay as they were")
    func past() throws {
        _ = try place.rotate("Keys/app", at: "2026-03-25T00:00:00Z")
        _ = try place.rotate("Keys/app", at: "2026-06-29T00:00:00Z")
        let after = try place.states("Keys/app", at: "2026-06-29T00:00:00Z")
        #expect(after == ["retiring", "primary", "pending"])
        #expect(try place.states("Keys/app", at: "2020-01-01T00:00:00Z") == after)
        let plan = try place.rotate("Keys/app", at: "2020-01-01T00:00:00Z", "--now")
        #expect(plan.exit == 0 && plan.done.isEmpty)
        let refused = try place.run("keys", "add", "Keys/app", "--at", "2020-01-01T00:00:00Z")
        expectRefusal(refused, 75, saying: "before the last change")
    }

    @Test("rotate --emergency works with a clock that was set back")
    func emergency() throws {
        let kid = try #require(try place.keys("Keys/app", at: Workplace.newYear).first?.kid)
        let output = try place.run(
            "rotate", "Keys/app", "--emergency", "--revoke", kid, "--yes", "--at", "2020-01-01T00:00:00Z")
        #expect(output.exit == 0, "\(output)")
        #expect(try place.states("Keys/app", at: "2020-01-01T00:00:00Z") == ["revoked", "primary"])
    }
}
