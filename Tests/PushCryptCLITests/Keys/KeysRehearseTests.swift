import Foundation
import Testing

/// The numbers are those of the library's tests.
@Suite("keys rehearse", .ownThreads)
struct KeysRehearseTests {
    static let fleet = ["--refresh-p50", "6h", "--refresh-p99", "20d", "--devices", "1000"]

    private let place: Workplace

    init() throws {
        place = try Workplace()
        try place.create("Keys/app", "shared")
    }

    private func rehearse(_ options: [String]) throws -> Output {
        try place.run(["keys", "rehearse", "Keys/app"] + options)
    }

    private func report(_ options: [String]) throws -> [String: Any] {
        let output = try rehearse(options + ["--json"])
        try #require(output.isSuccess, "\(output)")
        return try output.object()
    }

    @Test("it prints fleet, policy, losses and the smallest lengths, the same each time, and changes nothing")
    func text() throws {
        let before = try place.contents(of: ".")
        let output = try rehearse(Self.fleet)
        #expect(output.isSuccess, "\(output)")
        for row in [
            "Fleet   1,000 devices; half fetch keys at least every 6h, 99% every 20d;",
            "Policy  rotateEvery 90d, publishLead 7d, overlap 30d, keep 2; a key opens for 90d10m after",
            "  sent                                                   810,000       100%\n", "7d ▶███",
            "✗ This policy loses 0.18% of the pushes",
        ] { #expect(output.text.contains(row), "\(row): \(output.text)") }
        #expect(try rehearse(Self.fleet).text == output.text)
        #expect(try place.contents(of: ".") == before)
        let none = try rehearse(Self.fleet + ["--publish-lead", "30d"]).text
        #expect(none.contains("\n✓ This policy loses no push of 810,000."), "\(none)")
    }

    @Test("the policies that the verdict names lose no push")
    func advice() throws {
        let verdict = try #require(try report(Self.fleet)["verdict"] as? String)
        let lead = try #require(verdict.firstMatch(of: /With --publish-lead (\w+) it/)?.1)
        #expect(try report(Self.fleet + ["--publish-lead", String(lead)])["losesNone"] as? Bool == true)
        let often = try #require(try report(Self.fleet + ["--rotate-every", "14d"])["verdict"] as? String)
        let advice = try #require(often.firstMatch(of: /--rotate-every (\w+) with --publish-lead (\w+) would/))
        let better = ["--rotate-every", String(advice.1), "--publish-lead", String(advice.2)]
        #expect(try report(Self.fleet + better)["losesNone"] as? Bool == true)
    }

    @Test("the counts of --json add up, and options override the values of the --fleet file")
    func json() throws {
        try place.write(
            Data(#"{"devices": 1000, "refreshP50": "PT6H", "refreshP99": "20d", "seed": 1}"#.utf8), to: "fleet.json")
        let report = try report(["--fleet", "fleet.json", "--publish-lead", "3d", "--seed", "7", "--offline", "5%"])
        let pushes = try #require(report["pushes"] as? [String: Int])
        #expect(pushes["sent"] == pushes.filter { $0.key != "sent" }.values.reduce(0, +))
        #expect(try #require(pushes["keyNotFetched"]) > 0)
        let fleet = try #require(report["fleet"] as? [String: Any])
        #expect(fleet["offline"] as? Double == 0.05 && fleet["seed"] as? Int == 7)
        #expect(fleet["devices"] as? Int == 1_000 && fleet["refreshP99"] as? String == "P20D")
        #expect(report["suites"] as? [String] == ["shared"])
        #expect((report["policy"] as? [String: Any])?["publishLead"] as? String == "P3D")
        let help = try place.run("keys", "rehearse", "--help").text
        for name in report.keys { #expect(help.contains(name), "\(name)") }
    }

    @Test("the policy is the keyset's, except for what options name")
    func policy() throws {
        try place.writeKeyset(
            "Keys/app", [SampleLifecycles.primary],
            policy: #"{"rotateEvery":"P60D","publishLead":"P20D","overlap":"P40D","keep":1,"requireCoverage":99.9}"#)
        let policy = try #require(try report(Self.fleet + ["--keep", "3"])["policy"] as? [String: Any])
        #expect(policy["rotateEvery"] as? String == "P60D" && policy["keep"] as? Int == 3)
        #expect(policy["requireCoverage"] as? String == "99.9%")
        #expect(policy["opensAfterRetiring"] as? String == "P120DT10M")
        let timed = try report(Self.fleet + ["--require-coverage", "none"])
        #expect(timed["simulatedLead"] as? String == "P20D")
    }

    @Test(
        "impossible fleets and policies, and keysets that can't be read, are refused",
        arguments: [
            ([], 64, "--refresh-p50 and --refresh-p99, or --fleet"), (["--refresh-p50", "6h"], 64, "--refresh-p99"),
            (["--refresh-p50", "6h", "--refresh-p99", "6h"], 64, "longer than the p50"),
            (fleet.dropLast() + ["0"], 64, "1 to 100,000,000 devices"), (fleet + ["--offline", "95%"], 64, "0 to 90%"),
            (fleet + ["--pushes-per-day", "0"], 64, "pushes per day"),
            (fleet + ["--publish-lead", "90d"], 64, "shorter than --rotate-every"),
            (["--fleet", "none"], 66, "none"), (["--fleet", "bad.json"], 65, "refreshP5O is not a member"),
        ] as [([String], Int32, String)])
    func refused(_ options: [String], _ status: Int32, _ words: String) throws {
        try place.write(Data(#"{"refreshP5O": "6h"}"#.utf8), to: "bad.json")
        expectRefusal(try rehearse(options), status, saying: words)
    }

    @Test(
        "bad usage exits 64 and draws nothing",
        arguments: [
            ["--offline", "2"], ["--offline", "100%"], ["--offline", "nan"], ["--seed", "-1"], ["--devices", "many"],
            ["--refresh-p50", "soon"], ["--picture", "a.gif"], ["more"],
        ])
    func usage(_ options: [String]) throws {
        expectUsageError(try rehearse(Self.fleet + options))
        #expect(try place.names() == ["Keys"])
    }

    @Test("publishers, missing keysets and those of others are refused; a closed stdout is an error")
    func keysets() throws {
        try place.create("Publisher/app", "publisher")
        func rehearse(_ path: String) throws -> Output { try place.run(["keys", "rehearse", path] + Self.fleet) }
        expectRefusal(try rehearse("Publisher/app"), 64, saying: "never rotated")
        for path in ["Keys/none", "Keys"] { expectRefusal(try rehearse(path), 66) }
        let closed = try place.shell("\"$PUSHCRYPT\" keys rehearse Keys/app \(Self.fleet.joined(separator: " ")) >&-")
        expectRefusal(closed, 74, saying: "can't write to stdout")
        try place.setMode(0o644, of: "Keys/app.keyset")
        expectRefusal(try rehearse("Keys/app"), 77, saying: "chmod 600")
    }
}
