import Foundation
import Testing

@Suite("keys log", .ownThreads)
struct KeysLogTests {
    @Test("keys log prints the time, actor, action and reason of each change")
    func transcript() throws {
        let place = try Workplace()
        let first = try place.create("Keys/ios", "recipient")
        let second = try place.run(
            "keys", "add", "Keys/ios", "--at", Workplace.now, "--reason", "a drill", "--json")
        let kid = try #require(try (second.object()["done"] as? [[String: Any]])?.first?["kid"] as? String)
        let output = try place.run("keys", "log", "Keys/ios")
        #expect(output.isSuccess, "\(output)")
        let who = try me(place)
        #expect(
            output.text == """
                  1  2026-03-01T09:00:00Z  created \(first), by \(who)
                     seals at once
                  2  2026-03-01T09:00:00Z  added \(kid), by \(who)
                     seals from 2026-03-08T09:00:00Z
                     reason: a drill

                """)
    }

    @Test("keys log shows a policy's durations as they are typed")
    func policy() throws {
        let place = try Workplace()
        try place.create("Keys/ios", "shared")
        try place.succeed("keys", "policy", "Keys/ios", "--rotate-every", "36h", "--publish-lead", "12h", "--keep", "3")
        let text = try place.run("keys", "log", "Keys/ios").text
        #expect(text.contains("  2  2026-03-01T09:00:00Z  changed the policy, by "), "\(text)")
        #expect(text.contains("     rotateEvery 1d12h, publishLead 12h, overlap 30d, keep 3\n"), "\(text)")
    }

    @Test("--json prints one object for each line of the log")
    func json() throws {
        let place = try Workplace()
        let kid = try place.create("Keys/ios", "sender")
        let output = try place.run("keys", "log", "Keys/ios", "--json")
        #expect(output.isSuccess, "\(output)")
        let rows = try #require(try JSONSerialization.jsonObject(with: output.stdout) as? [[String: Any]])
        #expect(rows.count == 1)
        #expect(Set(rows[0].keys) == ["n", "at", "who", "what", "kid", "detail", "why", "hash"])
        #expect(rows[0]["n"] as? Int == 1)
        #expect(rows[0]["kid"] as? String == kid)
        #expect(rows[0]["why"] is NSNull)
    }

    @Test("control characters in the log are replaced in the output")
    func harmless() throws {
        let place = try Workplace()
        try place.create("Keys/ios", "sender")
        try place.succeed("keys", "policy", "Keys/ios", "--keep", "3", "--reason", "\u{1b}[31mred\nnew\u{202e}line")
        try place.edit("Keys/ios/audit.jsonl") { $0 + "\u{1b}]0;title\u{7}\n" }
        let output = try place.run("keys", "log", "Keys/ios")
        #expect(output.exit == 0, "\(output)")
        #expect(output.text.contains("\u{fffd}[31mred\u{fffd}new\u{fffd}line"))
        let unprintable = (output.text + output.stderr).unicodeScalars.filter { $0.value < 32 && $0 != "\n" }
        #expect(unprintable.isEmpty)
        #expect(output.text.split(separator: "\n").count == 6)
        #expect(
            output.stderr
                == "pushcrypt: Keys/ios: the audit log is broken: line 3 of the audit log doesn't have number 3\n")
    }

    @Test("--verify of an intact log exits 0")
    func whole() throws {
        let place = try Workplace()
        try place.create("Keys/ios", "sender")
        try place.succeed("keys", "add", "Keys/ios")
        let output = try place.run("keys", "log", "Keys/ios", "--verify")
        #expect(
            output.isSuccess && output.text.hasPrefix("whole: 2 lines, as the keyset records; seq 2, head "),
            "\(output)")
        let json = try place.run("keys", "log", "Keys/ios", "--verify", "--json").object()
        #expect(json["condition"] as? String == "whole")
        #expect(json["lines"] as? Int == 2)
    }

    @Test("--verify of a log with lines missing after a crash exits 0", arguments: [0, 1, 40])
    func interrupted(_ byteCount: Int) throws {
        let place = try Workplace()
        try place.create("Keys/ios", "sender")
        let before = try place.read("Keys/ios/audit.jsonl")
        try place.succeed("keys", "add", "Keys/ios")
        let torn = try place.read("Keys/ios/audit.jsonl").prefix(before.count + byteCount)
        try place.write(torn, to: "Keys/ios/audit.jsonl")
        let output = try place.run("keys", "log", "Keys/ios", "--verify")
        #expect(output.isSuccess, "\(output)")
        #expect(
            output.text.hasPrefix("interrupted: an interrupted change didn't write the last line of the audit log; "))
        let json = try place.run("keys", "log", "Keys/ios", "--verify", "--json")
        #expect(json.exit == 0)
        #expect(try json.object()["condition"] as? String == "interrupted")
        let shown = try place.run("keys", "log", "Keys/ios")
        #expect(shown.exit == 0 && shown.stderr.contains("an interrupted change didn't write"), "\(shown)")
        try place.succeed("keys", "verify", "Keys/ios")
        #expect(try place.run("keys", "log", "Keys/ios", "--verify").text.hasPrefix("whole: 2 lines"))
    }

    private func me(_ place: Workplace) throws -> String { try place.shell("id -un").line }
}
