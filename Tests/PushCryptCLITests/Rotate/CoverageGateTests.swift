import Foundation
import Testing

@Suite("a policy that requires coverage", .ownThreads)
struct CoverageGateTests {
    private let place: Workplace
    private let old: String
    private let new: String
    private static let time = "2026-04-05T00:00:00Z"

    init() throws {
        place = try Workplace()
        old = try place.createAtNewYear("Keys/app", "shared", "--require-coverage", "99.9%")
        _ = try place.rotate("Keys/app", at: "2026-03-25T00:00:00Z")
        new = try #require(try place.keys("Keys/app", at: Self.time).last?.kid)
    }

    /// Reports of 1,000 devices, of which `count` hold the new key.
    private func report(_ count: Int) throws {
        let lines = (0..<1_000).map { index in
            #"{"device":"d\#(index)","kid":"\#(index < count ? new : old)","seenAt":"2026-04-04T00:00:00Z"}"#
        }
        try place.write(Data(lines.joined(separator: "\n").utf8), to: "reports")
    }

    @Test("rotate adds the next key and doesn't promote it without reports")
    func waits() throws {
        #expect(try place.states("Keys/app", at: "2026-12-01T00:00:00Z") == ["primary", "pending"])
        let early = try place.rotate("Keys/app", at: "2026-03-26T00:00:00Z")
        #expect(early.exit == 0 && early.blocked.isEmpty)
        #expect(early.next?["step"] as? String == "promote")
        let plan = try place.rotate("Keys/app", at: Self.time)
        #expect(plan.exit == 75 && plan.blocked == ["promote"])
        #expect((plan.steps("blocked").first?["because"] as? String)?.contains("--reports") == true)
    }

    @Test(
        "rotate promotes the key if the reports show the required coverage",
        arguments: [(998, false), (999, true), (1_000, true)])
    func rotates(_ count: Int, _ isEnough: Bool) throws {
        try report(count)
        let plan = try place.rotate("Keys/app", at: Self.time, "--reports", "reports")
        #expect(plan.exit == (isEnough ? 0 : 75))
        #expect(plan.done == (isEnough ? ["promote"] : []))
        #expect(
            try place.states("Keys/app", at: Self.time)
                == (isEnough ? ["retiring", "primary"] : ["primary", "pending"]))
    }

    @Test("keys promote refuses without reports and with too little coverage")
    func refuses() throws {
        expectRefusal(try place.run("keys", "promote", "Keys/app", new, "--at", Self.time), 75, saying: "--reports")
        try report(990)
        let few = try place.run("keys", "promote", "Keys/app", new, "--reports", "reports", "--at", Self.time)
        expectRefusal(few, 75, saying: "990 of 1000 devices seen in the last 30 days hold it, and 99.9% are required")
        let less = try place.run(
            "keys", "promote", "Keys/app", new, "--reports", "reports", "--require-coverage", "99%", "--at", Self.time)
        #expect(less.isSuccess, "\(less)")
        #expect(try place.states("Keys/app", at: Self.time) == ["retiring", "primary"])
    }

    @Test("keys promote --force promotes the key and prints the missing coverage")
    func forced() throws {
        try report(990)
        let output = try place.run(
            "keys", "promote", "Keys/app", new, "--reports", "reports", "--force", "--at", Self.time)
        #expect(output.exit == 0, "\(output)")
        #expect(output.stderr.contains("990 of 1000 devices"))
        #expect(try place.states("Keys/app", at: Self.time) == ["retiring", "primary"])
    }

    @Test("keys add --activates-at is refused if the policy requires coverage")
    func time() throws {
        try place.createAtNewYear("Keys/other", "shared", "--require-coverage", "99.9%")
        let add = ["keys", "add", "Keys/other", "--activates-at", "2026-04-20T00:00:00Z", "--at", Self.time]
        expectRefusal(try place.run(add), 75, saying: "99.9% of the devices must hold a key")
        #expect(try place.run(add + ["--force"]).isSuccess)
    }

    @Test("--require-coverage applies to a keyset whose policy requires none")
    func byOption() throws {
        try place.createAtNewYear("Keys/free")
        let added = try place.run(
            "keys", "add", "Keys/free", "--activates-at", "2026-04-20T00:00:00Z", "--at", "2026-03-25T00:00:00Z")
        #expect(added.isSuccess, "\(added)")
        let kid = try #require(try place.keys("Keys/free", at: Self.time).last?.kid)
        let promote = ["keys", "promote", "Keys/free", kid, "--at", Self.time]
        let refused = try place.run(promote + ["--require-coverage", "99.9%"])
        expectRefusal(refused, 75, saying: "99.9% of the devices must hold it, and no reports were given")
        #expect(try place.run(promote).isSuccess)
    }
}
