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

    @Test("it prints fleet, policy, losses and the smallest lead, the same each time, and changes nothing")
    func text() throws {
        let before = try place.contents(of: ".")
        let output = try rehearse(Self.fleet)
        #expect(output.isSuccess, "\(output)")
        for row in [
            "Fleet   1,000 devices; half fetch keys at least every 6h, 99% every 20d; 2% offline at any",
            "Policy  rotateEvery 90d, publishLead 7d.\n", "\n▶ 7d   ███", "  96%      0.18%\n  14d ",
            "\nThe smallest publishLead that loses none: 28d20h30m.\n", "\n✗ This policy loses 0.18% of the pushes",
        ] { #expect(output.text.contains(row), "\(row): \(output.text)") }
        #expect(try rehearse(Self.fleet).text == output.text)
        #expect(try place.contents(of: ".") == before)
        let none = try rehearse(Self.fleet + ["--publish-lead", "30d"]).text
        #expect(none.contains("\n✓ This policy loses no push of 810,000."), "\(none)")
    }

    @Test(
        "with --day-keys it prints a year's shares for each period: more runs of the app mean fewer last-resort keys"
    )
    func dayKeys() throws {
        func shares(_ p50: String, _ p99: String) throws -> [String: [String: Any]] {
            let options = ["--refresh-p50", p50, "--refresh-p99", p99, "--devices", "1000", "--json"]
            let report = try place.run(["keys", "rehearse", "--day-keys"] + options).object()
            let periods = try #require(report["periods"] as? [[String: Any]])
            return Dictionary(uniqueKeysWithValues: periods.map { ($0["period"] as? String ?? "", $0) })
        }
        let (often, rarely) = (try shares("6h", "3d"), try shares("5d", "60d"))
        for period in ["days(1)", "days(7)"] {
            let counts = [often, rarely].map { $0[period]?["lastResort"] as? Int ?? 0 }
            #expect(0 < counts[0] && counts[0] < counts[1] / 4, "\(period): \(counts)")
            #expect(often[period]?["sent"] as? Int == 1_095_000)
        }
        #expect(rarely["renewed"]?["lastResort"] as? Int == 0)
        let expired = ["days(1)", "renewed"].map { often[$0]?["expired"] as? Int ?? 0 }
        #expect(expired[1] > 0 && expired[1] < expired[0] / 4)
        let text = try place.run(["keys", "rehearse", "--day-keys"] + Self.fleet).text
        #expect(text.contains("days(1)  2d ") && text.contains("renewed  120d "), "\(text)")
        #expect(try place.run(["keys", "rehearse", "Keys/app", "--day-keys"] + Self.fleet).exit == 64)
        #expect(try place.run(["keys", "rehearse"] + Self.fleet).exit == 64)
    }

    @Test("the counts of --json add up, and its policy is the keyset's, except for what options name")
    func json() throws {
        try place.writeKeyset(
            "Keys/app", [SampleLifecycles.primary],
            policy: #"{"rotateEvery":"P60D","publishLead":"P20D","overlap":"P40D","keep":1,"requireCoverage":99.9}"#)
        let report = try report(Self.fleet + ["--publish-lead", "3d", "--offline", "5%"])
        let pushes = try #require(report["pushes"] as? [String: Int])
        #expect(pushes["sent"] == pushes.filter { $0.key != "sent" }.values.reduce(0, +))
        #expect(try #require(pushes["keyNotFetched"]) > 0)
        let fleet = try #require(report["fleet"] as? [String: Any])
        #expect(fleet["offline"] as? Double == 0.05 && fleet["devices"] as? Int == 1_000)
        #expect(fleet["refreshP50"] as? String == "PT6H" && fleet["refreshP99"] as? String == "P20D")
        let policy = report["policy"] as? [String: String]
        #expect(policy == ["rotateEvery": "P60D", "publishLead": "P3D", "requireCoverage": "99.9%"])
        let lead = try #require(report["simulatedLead"] as? String)
        let leads = try #require(report["leads"] as? [[String: Any]])
        let simulated = try #require(leads.first { $0["publishLead"] as? String == lead && lead != "P3D" })
        #expect(simulated["lost"] as? Int == pushes["keyNotFetched"])
        #expect(leads.last?["publishLead"] as? String == "P30D" && leads.last?["lost"] as? Int == 0)
        let help = try place.run("keys", "rehearse", "--help").text
        for name in report.keys { #expect(help.contains(name), "\(name)") }
    }

    @Test(
        "impossible fleets and policies are refused",
        arguments: [
            (fleet.dropLast() + ["0"], "1 to 100,000,000 devices"), (fleet + ["--offline", "95%"], "0 to 90%"),
            (["--refresh-p50", "6h", "--refresh-p99", "6h"], "longer than the p50"),
            (fleet + ["--publish-lead", "90d"], "shorter than --rotate-every"),
        ])
    func refused(_ options: [String], _ words: String) throws {
        expectRefusal(try rehearse(options), 64, saying: words)
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
