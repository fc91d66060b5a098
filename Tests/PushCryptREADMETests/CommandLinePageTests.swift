import Foundation
import PushCryptTestSupport
import Testing

/// docs/cli.md matches the tool.
@Suite("the page of the command line tool")
struct CommandLinePageTests {
    /// Whether `python3` runs.
    private static let hasPython = succeeds(["python3", "-c", ""])

    @Test(
        "docs/cli.md has the help that the tool prints; docs/make_cli.py writes it",
        .enabled(if: hasPython, "python3 not found"))
    func help() throws {
        let script = Documents.packageRoot.appendingPathComponent("docs/make_cli.py").path
        let tool = try TranscriptTests.buildFolder().appendingPathComponent("pushcrypt").path
        #expect(Self.succeeds(["python3", "-B", script, "--tool", tool, "--check"]))
    }

    /// Commands, with the rows of the page that describe their output.
    private static let commands = [
        ("rotate", "pushcrypt rotate Keys/fleet --now --confirm-clock --json"),
        ("status", "pushcrypt status --settings settings --json"),
        ("keys list", "pushcrypt keys list Keys/fleet --json"),
        ("keys list", "pushcrypt keys list Keys --json"),
        ("keys rehearse", "pushcrypt keys rehearse Keys/fleet --devices 50 --refresh-p50 6h --refresh-p99 10d --json"),
        ("keys coverage", "pushcrypt keys coverage Keys/fleet --reports reports --json"),
        ("inspect", "pushcrypt inspect --keys Keys/fleet --topic com.example.app --json < sealed"),
        ("simulate", "pushcrypt simulate --keys Keys/fleet --topic com.example.app --json < sealed"),
        ("recipients import", "pushcrypt recipients import records --into database --json"),
        ("recipients check", "pushcrypt recipients check database --json"),
    ]

    @Test("docs/cli.md names every member of the JSON that a command prints")
    func members() throws {
        let preparation = """
            umask 077
            kid=$(pushcrypt keys create Keys/fleet --kind shared --insecure-plaintext --at 2026-01-01T00:00:00Z)
            echo '{"aps":{"alert":"x"}}' | pushcrypt seal --bare --to Keys/fleet --topic com.example.app > sealed
            pushcrypt keys create Keys/phone --kind recipient --insecure-plaintext
            pushcrypt keys export Keys/phone --registration > records
            echo '{"device":"a","kid":"'$kid'","seenAt":"2026-01-02T00:00:00Z"}' > reports
            echo '{"keystores":["Keys"],"history":"history"}' > settings
            """
        let outputs = try TranscriptTests.run([preparation] + Self.commands.map(\.1)).dropFirst()
        try #require(outputs.count == Self.commands.count)
        let page = try Documents.text(of: "docs/cli.md").components(separatedBy: "\n")
        for ((name, command), output) in zip(Self.commands, outputs) {
            let rows = page.filter { $0.hasPrefix("| ") && $0.split(separator: "|")[0].contains("`\(name)") }
            try #require(!rows.isEmpty, "\(name)")
            let members = Self.members(of: try JSONSerialization.jsonObject(with: Data(output.utf8)))
            #expect(!members.isEmpty, "\(command)")
            for member in members {
                #expect(rows.contains { $0.contains("`\(member)`") }, "\(member) of \(command)")
            }
        }
    }

    /// The names of members at any depth.
    private static func members(of json: Any) -> Set<String> {
        switch json {
        case let object as [String: Any]: object.values.reduce(Set(object.keys)) { $0.union(members(of: $1)) }
        case let array as [Any]: array.reduce([]) { $0.union(members(of: $1)) }
        default: []
        }
    }

    private static func succeeds(_ command: [String]) -> Bool {
        (try? ChildProcess(executable: "/usr/bin/env", arguments: command).run()) == .exit(0)
    }
}
