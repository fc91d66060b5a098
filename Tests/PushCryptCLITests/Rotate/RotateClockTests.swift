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
        #expect(plan.exit == 75 && plan.done.isEmpty)
        let refused = try place.run("keys", "add", "Keys/app", "--at", "2020-01-01T00:00:00Z")
        expectRefusal(refused, 75, saying: "before the last change")
    }

    @Test(
        "rotate with a clock before the last change exits 75 and says so, even if nothing is due",
        arguments: [[], ["--dry-run"], ["--all"]])
    func slow(_ options: [String]) throws {
        let path = options == ["--all"] ? "Keys" : "Keys/app"
        let before = try place.contents(of: "Keys")
        let output = try place.run(["rotate", path, "--at", "2020-01-01T00:00:00Z"] + options)
        #expect(output.exit == 75)
        #expect(
            output.stderr == """
                pushcrypt: Keys/app: the clock is at 2020-01-01T00:00:00Z, which is before the last change at \
                2026-01-01T00:00:00Z: set it; if it is right, an earlier run had a wrong clock, see docs/runbooks/wrong-clock.md

                """)
        #expect(output.text.hasPrefix("Keys/app at 2026-01-01T00:00:00Z, the time of its last change\n"), "\(output)")
        #expect(!output.text.contains("nothing is due"))
        #expect(try place.contents(of: "Keys") == before)
    }

    @Test("rotate --json with a slow clock names it; with a clock that is 10 minutes behind or confirmed, it doesn't")
    func slowAsJSON() throws {
        let slow = try place.rotate("Keys/app", at: "2025-12-31T23:49:59Z")
        #expect(slow.exit == 75)
        #expect((slow.members["clock"] as? String)?.contains("before the last change") == true)
        let tolerated = try place.rotate("Keys/app", at: "2025-12-31T23:50:00Z")
        #expect(tolerated.exit == 0 && tolerated.members["clock"] == nil)
        #expect(try place.rotate("Keys/app", at: "2020-01-01T00:00:00Z", "--confirm-clock").exit == 0)
    }

    @Test("rotate --emergency works with a clock that was set back")
    func emergency() throws {
        let kid = try #require(try place.keys("Keys/app", at: Workplace.newYear).first?.kid)
        let output = try place.run(
            "rotate", "Keys/app", "--emergency", "--revoke", kid, "--yes", "--at", "2020-01-01T00:00:00Z")
        #expect(output.exit == 0, "\(output)")
        #expect(output.stderr.contains("before the last change at 2026-01-01T00:00:00Z: the change has that time"))
        #expect(try place.states("Keys/app", at: "2020-01-01T00:00:00Z") == ["revoked", "primary"])
    }
}
