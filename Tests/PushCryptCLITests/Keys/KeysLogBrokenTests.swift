import Foundation
import PushCryptCore
import PushCryptTestSupport
import Testing

@Suite("keys log of a broken log", .ownThreads)
struct KeysLogBrokenTests {
    static let damages: [(words: String, change: @Sendable (String) -> String)] = [
        ("line 1 of the audit log doesn't have number 1", { "\n" + $0 }),
        ("line 2 of the audit log doesn't contain the hash", { $0.replacing("seals at once", with: "seals at twice") }),
        ("line 3 of the audit log doesn't contain the hash", { $0.replacing("seals from", with: "seals at") }),
        ("doesn't belong to the keyset", { $0.replacing("\\\"keep\\\": 3", with: "\\\"keep\\\": 1") }),
        ("has 1 of 3 lines: its end was cut off", { $0.split(separator: "\n")[0] + "\n" }),
        ("is missing or empty, and the keyset records 3 lines", { _ in "" }),
        ("has more bytes after its last whole line", { $0 + "{" }),
        ("line 4 of the audit log doesn't have number 4", { $0 + $0 }),
        ("line 2 of the audit log doesn't have number 2", { $0.replacing("\"n\":2", with: "\"n\":3") }),
    ]

    @Test("--verify exits 65 and names the first line that is wrong", arguments: 0..<damages.count)
    func verify(_ index: Int) throws {
        let place = try makePlace()
        let damage = Self.damages[index]
        try place.edit("Keys/ios/audit.jsonl", damage.change)
        expectRefusal(try place.run("keys", "log", "Keys/ios", "--verify"), 65, saying: damage.words)
        // The rest doesn't depend on the damage.
        guard index == 1 || LongTests.areEnabled else { return }
        let json = try place.run("keys", "log", "Keys/ios", "--verify", "--json")
        #expect(json.exit == 65)
        #expect(try json.object()["condition"] as? String == "broken")
        #expect(try place.run("keys", "log", "Keys/ios").exit == 0)
        let refused = try place.run("keys", "add", "Keys/ios", "--at", Workplace.now, "--force")
        expectRefusal(refused, 65, saying: "pushcrypt keys log Keys/ios --start-new --reason WHY")
        expectRefusal(
            try place.run("keys", "log", "Keys/ios", "--verify"), 65,
            saying: "`pushcrypt keys log Keys/ios --start-new --reason WHY --yes`")
    }

    @Test("each command that a broken log stops repeats the given secret in the line that it prints")
    func repeatedSecret() throws {
        let place = try Workplace()
        try place.createEncrypted("Keys/app", .shared)
        try place.succeed("keys", "backup", "Keys/app", "--to", "backup")
        try place.edit("Keys/app/audit.jsonl") { $0.replacing("created", with: "added") }
        let line = "`pushcrypt keys log Keys/app --start-new --reason WHY --yes --passphrase-file passphrase`"
        for command in [
            ["keys", "policy", "Keys/app", "--keep", "3"], ["keys", "restore", "--from", "backup"],
            ["keys", "log", "Keys/app", "--verify"], ["rotate", "Keys/app"],
        ] {
            let output = try place.run(command + ["--passphrase-file", "passphrase", "--at", Workplace.now])
            expectRefusal(output, 65, saying: line)
        }
    }

    @Test("--verify of an earlier copy prints the command that restores it")
    func earlierCopy() throws {
        let place = try Workplace()
        try place.create("Keys/app", "shared")
        let copy = try place.read("Keys/app/keyset.json")
        try place.succeed("keys", "policy", "Keys/app", "--keep", "3")
        try place.write(copy, to: "Keys/app/keyset.json")
        expectRefusal(
            try place.run("keys", "log", "Keys/app", "--verify"), 75,
            saying: "`pushcrypt keys restore Keys/app --back-in-time`")
    }

    @Test(
        "the line that rotate prints for a broken log starts a new one with a reason in place of WHY, which is refused")
    func printedLine() throws {
        let place = try makePlace()
        try place.makeFolder("my keys")
        try place.move("Keys/ios", to: "my keys/ios")
        try place.edit("my keys/ios/audit.jsonl") { $0 + "x\n" }
        let refused = try place.run("rotate", "my keys/ios", "--at", Workplace.now)
        let line = try #require(refused.stderr.firstMatch(of: /`pushcrypt (keys log .*)`/)?.1)
        let script = "\"$PUSHCRYPT\" \(line) --at \(Workplace.now) < /dev/null"
        let pasted = try place.shell(script)
        expectUsageError(pasted)
        #expect(pasted.stderr.contains("--reason WHY is the placeholder of the advice"), "\(pasted)")
        let started = try place.shell(script.replacing("WHY", with: "'a test'"))
        #expect(started.exit == 0 && started.text.contains("started a new audit log"), "\(started)")
    }

    @Test(
        "rotate refuses a broken log with 65 also if nothing is due and in a dry run",
        arguments: [
            "rotate Keys/ios", "rotate Keys/ios --dry-run", "rotate Keys/ios --now --dry-run", "rotate Keys/ios --now",
            "rotate Keys/ios --emergency --revoke KID --dry-run",
        ])
    func rotate(_ command: String) throws {
        let place = try Workplace()
        let kid = try place.create("Keys/ios", "sender")
        let arguments = command.replacing("KID", with: kid).split(separator: " ").map(String.init)
        let whole = try place.run(arguments.filter { $0 != "--now" } + ["--at", Workplace.now])
        #expect([0, 10].contains(whole.exit), "\(whole)")
        try place.edit("Keys/ios/audit.jsonl") { $0.replacing("once", with: "last") }
        let output = try place.run(arguments + ["--at", Workplace.now])
        expectRefusal(output, 65, saying: "Keys/ios: the audit log doesn't belong to the keyset")
    }

    @Test("--start-new sets a broken log aside and starts one with the reason", arguments: [true, false])
    func startNew(_ isEncrypted: Bool) throws {
        let place = try Workplace()
        if isEncrypted {
            try place.createEncrypted("Keys/ios", .sender)
        } else {
            try place.create("Keys/ios", "sender")
        }
        let secret = isEncrypted ? ["--passphrase-file", "passphrase"] : []
        try place.edit("Keys/ios/audit.jsonl") { $0.replacing("once", with: "last") }
        let broken = try place.read("Keys/ios/audit.jsonl")
        let output = try place.run(
            ["keys", "log", "Keys/ios", "--start-new", "--reason", "tried it", "--yes", "--at", Workplace.now] + secret
        )
        #expect(output.exit == 0, "\(output)")
        let name = try #require(output.text.firstMatch(of: /audit\.broken-[A-Za-z0-9_-]{12}\.jsonl/)?.0)
        #expect(try place.read("Keys/ios/\(name)") == broken)
        #expect(try place.mode(of: "Keys/ios/\(name)") == 0o600)
        let log = try place.run("keys", "log", "Keys/ios", "--json")
        let rows = try #require(try JSONSerialization.jsonObject(with: log.stdout) as? [[String: Any]])
        #expect(rows.map { $0["what"] as? String } == ["logBegunAnew"])
        #expect(rows[0]["why"] as? String == "tried it")
        #expect((rows[0]["detail"] as? String)?.contains(name) == true)
        #expect(try place.run(["keys", "verify", "Keys/ios", "--at", Workplace.now] + secret).isSuccess)
        #expect(try place.run(["keys", "add", "Keys/ios", "--at", Workplace.now] + secret).isSuccess)
    }

    @Test("--start-new needs a confirmation and refuses an intact log")
    func refusals() throws {
        let place = try makePlace()
        let command = ["keys", "log", "Keys/ios", "--start-new", "--reason", "why", "--at", Workplace.now]
        expectRefusal(try place.run(command + ["--yes"]), 65, saying: "not broken; nothing was changed")
        try place.edit("Keys/ios/audit.jsonl") { $0 + "x\n" }
        let before = try place.contents(of: "Keys/ios")
        expectRefusal(try place.run(command), 64, saying: "to confirm, add --yes")
        #expect(try place.contents(of: "Keys/ios") == before)
    }

    @Test(
        "keys log exits 64 for bad usage",
        arguments: [
            ["--start-new"], ["--start-new", "--reason", ""], ["--reason", "x"], ["--verify", "--reason", "x"],
            ["--start-new", "--verify", "--reason", "x"],
        ])
    func usage(_ options: [String]) throws {
        let place = try makePlace()
        expectUsageError(try place.run(["keys", "log", "Keys/ios"] + options))
    }

    @Test("keys log exits 66 without a keyset and 65 for a bad keyset")
    func missing() throws {
        let place = try makePlace()
        expectRefusal(try place.run("keys", "log", "none"), 66)
        try place.write(Data("{}".utf8), to: "Keys/ios/keyset.json")
        expectRefusal(try place.run("keys", "log", "Keys/ios"), 65, saying: "Keys/ios/keyset.json: ")
    }

    /// Three lines.
    private func makePlace() throws -> Workplace { try Self.made.get().place() }

    private static let made = Result {
        let place = try Workplace()
        try place.create("Keys/ios", "sender")
        try place.succeed("keys", "add", "Keys/ios")
        try place.succeed("keys", "policy", "Keys/ios", "--keep", "3")
        return try PlaceSnapshot(place)
    }
}
