import Foundation
import Testing

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

    /// The keyset's file with a policy in it.
    private func write(policy: String) throws {
        let text = String(decoding: try place.readForEditing("Keys/app/keyset.json"), as: UTF8.self)
        let changed = text.replacing(/"policy": \{[^}]*\}/, with: "\"policy\": \(policy)")
        try place.write(Data(changed.utf8), to: "Keys/app/keyset.json")
    }

    @Test("keys rehearse prints the losses of the standard policy")
    func loses() throws {
        let output = try rehearse(Self.fleet)
        #expect(output.isSuccess, "\(output)")
        #expect(output.text == Self.transcript)
    }

    @Test("a policy without losses exits 0, and a second run prints the same numbers")
    func losesNone() throws {
        let output = try rehearse(Self.fleet + ["--publish-lead", "30d"])
        #expect(output.isSuccess, "\(output)")
        #expect(output.text.contains("\n✓ This policy loses no push of 810,000."))
        #expect(output.text.contains("       30d ▶███"))
        #expect(try rehearse(Self.fleet + ["--publish-lead", "30d"]).text == output.text)
    }

    @Test("the policy that the verdict names loses no push")
    func advice() throws {
        let verdict = try #require(try report(Self.fleet)["verdict"] as? String)
        let lead = try #require(verdict.firstMatch(of: /With --publish-lead (\w+) it/)?.1)
        #expect(try report(Self.fleet)["losesNone"] as? Bool == false)
        #expect(try report(Self.fleet + ["--publish-lead", String(lead)])["losesNone"] as? Bool == true)
    }

    @Test("without a sufficient publishLead the verdict names a longer rotateEvery, which loses no push")
    func rarer() throws {
        let verdict = try #require(try report(Self.fleet + ["--rotate-every", "14d"])["verdict"] as? String)
        let advice = try #require(verdict.firstMatch(of: /--rotate-every (\w+) with --publish-lead (\w+) would/))
        let better = ["--rotate-every", String(advice.1), "--publish-lead", String(advice.2)]
        #expect(try report(Self.fleet + better)["losesNone"] as? Bool == true)
    }

    @Test("the counts of --json add up to the pushes sent")
    func json() throws {
        let report = try report(Self.fleet + ["--publish-lead", "3d", "--seed", "7", "--offline", "5%"])
        let pushes = try #require(report["pushes"] as? [String: Int])
        let sum = pushes.filter { $0.key != "sent" }.values.reduce(0, +)
        #expect(pushes["sent"] == sum)
        #expect(try #require(pushes["keyNotFetched"]) > 0)
        let fleet = try #require(report["fleet"] as? [String: Any])
        #expect(fleet["offline"] as? Double == 0.05)
        #expect(fleet["seed"] as? Int == 7)
        #expect(fleet["refreshP99"] as? String == "P20D")
        #expect(report["suites"] as? [String] == ["shared"])
        #expect((report["policy"] as? [String: Any])?["publishLead"] as? String == "P3D")
        let smallest = try #require(report["smallest"] as? [String: Any])
        #expect(smallest["lost"] as? Int == 0)
        for name in ["lostWithPublishLeadOneSecondShorter", "lostWithOverlapOneSecondShorter"] {
            #expect(try #require(smallest[name] as? Int) > 0)
        }
    }

    @Test("the help names every member of --json and every option")
    func help() throws {
        let help = try place.run("keys", "rehearse", "--help").text.split(whereSeparator: \.isWhitespace)
            .joined(separator: " ")
        let report = try report(Self.fleet)
        for (name, value) in report {
            #expect(help.contains(name), "\(name)")
            let rows = (value as? [[String: Any]])?.first ?? value as? [String: Any] ?? [:]
            let members = ["fleet", "policy"].contains(name) ? [] : Array(rows.keys)
            for member in members { #expect(help.contains(member), "\(member)") }
        }
        for option in ["fleet", "refresh-p50", "refresh-p99", "offline", "pushes-per-day", "devices", "seed"] {
            #expect(help.contains(" --\(option) <"), "\(option)")
        }
    }

    @Test("a closed stdout ends keys rehearse with an error", arguments: ["", "--json"])
    func closedStdout(_ option: String) throws {
        let command = "\"$PUSHCRYPT\" keys rehearse Keys/app \(Self.fleet.joined(separator: " ")) \(option)"
        expectRefusal(try place.shell("\(command) >&-"), 74, saying: "can't write to stdout")
    }

    @Test("options override the values of the --fleet file")
    func file() throws {
        let fleet =
            #"{"devices": 1000, "refreshP50": "PT6H", "refreshP99": "20d", "offline": 0.02, "pushesPerDay": 3, "seed": 1}"#
        try place.write(Data(fleet.utf8), to: "fleet.json")
        #expect(try rehearse(["--fleet", "fleet.json"]).text == Self.transcript)
        let changed = try report(["--fleet", "fleet.json", "--seed", "2"])
        #expect((changed["fleet"] as? [String: Any])?["seed"] as? Int == 2)
        #expect((changed["fleet"] as? [String: Any])?["devices"] as? Int == 1_000)
    }

    @Test("keys rehearse uses the keyset's policy if it has one")
    func policy() throws {
        try write(
            policy: #"{"rotateEvery":"P60D","publishLead":"P20D","overlap":"P40D","keep":1,"requireCoverage":99.9}"#)
        let report = try report(Self.fleet + ["--keep", "3"])
        let policy = try #require(report["policy"] as? [String: Any])
        #expect(policy["rotateEvery"] as? String == "P60D")
        #expect(policy["keep"] as? Int == 3)
        #expect(policy["requireCoverage"] as? String == "99.9%")
        #expect(policy["opensAfterRetiring"] as? String == "P120DT10M")
        #expect(report["simulatedLead"] as? String != "P20D")
        #expect(try rehearse(Self.fleet).text.contains("A key seals only after 99.9%"))
        let timed = try self.report(Self.fleet + ["--require-coverage", "none"])
        #expect(timed["simulatedLead"] as? String == "P20D")
        try place.write(try place.read("Keys/app/keyset.json"), to: "copy.json")
        #expect(try place.run(["keys", "rehearse", "copy.json"] + Self.fleet).text.contains("rotateEvery 60d"))
    }

    @Test("an impossible policy exits 65 in the file and 64 on the command line")
    func badPolicy() throws {
        expectRefusal(
            try rehearse(Self.fleet + ["--publish-lead", "90d"]), 64, saying: "shorter than --rotate-every")
        try write(policy: #"{"rotateEvery":"P60D"}"#)
        expectRefusal(try rehearse(Self.fleet), 65, saying: "Keys/app/keyset.json: the policy lacks")
    }

    @Test(
        "keys rehearse refuses fleets with impossible values",
        arguments: [
            ([], 64, "--refresh-p50 and --refresh-p99, or --fleet"), (["--refresh-p50", "6h"], 64, "--refresh-p99"),
            (["--refresh-p50", "6h", "--refresh-p99", "6h"], 64, "longer than the p50"),
            (fleet.dropLast() + ["0"], 64, "1 to 100,000,000 devices"),
            (fleet + ["--offline", "95%"], 64, "0 to 90%"), (fleet + ["--pushes-per-day", "0"], 64, "pushes per day"),
            (["--fleet", "none"], 66, "none"), (["--fleet", "Keys"], 65, "folder"),
            (["--fleet", "bad.json"], 65, "bad.json: refreshP5O is not a member"),
            (["--fleet", "short.json"], 65, "short.json: refresh p50"),
            (["--fleet", "whole.json", "--devices", "0"], 64, "1 to 100,000,000 devices"),
        ] as [([String], Int32, String)])
    func badFleets(_ options: [String], _ status: Int32, _ words: String) throws {
        try place.write(Data(#"{"refreshP5O": "6h"}"#.utf8), to: "bad.json")
        try place.write(Data(#"{"refreshP50": "6h"}"#.utf8), to: "short.json")
        try place.write(Data(#"{"refreshP50": "6h", "refreshP99": "2d"}"#.utf8), to: "whole.json")
        expectRefusal(try rehearse(options), status, saying: words)
    }

    @Test(
        "keys rehearse exits 64 for bad usage",
        arguments: [
            ["--offline", "2"], ["--offline", "-1%"], ["--offline", "100%"], ["--offline", "nan"], ["--seed", "-1"],
            ["--refresh-p50", "soon"], ["--devices", "many"], ["--publish-lead", "x"], ["--pushes-per-day", "x"],
            ["--picture", "a.gif"], ["--picture", "svg"], ["--picture", ""], ["more"],
        ])
    func usage(_ options: [String]) throws {
        expectUsageError(try rehearse(Self.fleet + options))
        #expect(try place.names() == ["Keys"])
    }

    @Test("keys rehearse exits 66 without a keyset", arguments: [("Keys/none", Int32(66)), ("Keys", 66)])
    func missing(_ path: String, _ status: Int32) throws {
        expectRefusal(try place.run(["keys", "rehearse", path] + Self.fleet), status)
    }

    @Test("a keyset that other users can read is refused, and nothing is changed")
    func modes() throws {
        let before = try place.read("Keys/app/keyset.json")
        #expect(try rehearse(Self.fleet).isSuccess)
        #expect(try place.read("Keys/app/keyset.json") == before)
        try place.setMode(0o644, of: "Keys/app/keyset.json")
        expectRefusal(try rehearse(Self.fleet), 77, saying: "chmod 600")
    }
}
