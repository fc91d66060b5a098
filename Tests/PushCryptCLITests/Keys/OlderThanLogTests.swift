import Foundation
import PushCryptCore
import PushCryptTestSupport
import Testing

/// A keyset.json that was restored from a backup, beside the audit log of today.
@Suite("a keyset that is older than its audit log", .ownThreads)
struct OlderThanLogTests {
    private static let path = "Keys/app"

    /// The backup is from before the revocation of the primary key.
    private static let restored = Result {
        let place = try Workplace()
        let kid = try place.create(path, "sender")
        try place.create("Keys/fleet", "shared")
        let backup = try place.read("\(path)/keyset.json")
        try place.succeed("keys", "revoke", path, kid, "--yes")
        try place.write(backup, to: "\(path)/keyset.json")
        return (kid: kid, place: try PlaceSnapshot(place))
    }

    static let users = [
        "seal --to Keys/fleet --bare --sign-with Keys/app --topic com.example.app",
        "open --keys Keys/fleet --trust Keys/app --topic com.example.app",
        "reseal --errors errors.jsonl --keys Keys/fleet --sign-with Keys/app --topic com.example.app",
        "rotate Keys/app", "rotate Keys/app --dry-run", "rotate --all Keys", "keys add Keys/app",
        "keys policy Keys/app",
        "keys policy Keys/app --keep 3", "keys prune Keys/app", "keys export Keys/app",
        "keys export Keys/app --private --insecure-plaintext",
        "keys passwd Keys/app --insecure-plaintext", "keys revoke Keys/app KID --yes",
        "keys destroy Keys/app KID --force",
        "keys log Keys/app --start-new --reason forget --yes", "keys log Keys/app --verify",
    ]

    @Test(
        "every command that uses or changes its keys exits 75, names the revoked key, and changes nothing",
        arguments: users)
    func refused(_ command: String) throws {
        let (kid, snapshot) = try Self.restored.get()
        let place = try snapshot.place()
        let before = try place.contents(of: Self.path)
        let arguments = command.replacing("KID", with: kid).split(separator: " ").map(String.init)
        let output = try place.run(
            arguments + (command.hasPrefix("keys log") ? [] : ["--at", Workplace.now]), stdin: Workplace.inner)
        let words =
            command.hasPrefix("keys log")
            ? "after the keyset's last one" : "key \(kid) was revoked, and the copy still uses it"
        #expect(output.exit == 75, "\(output)")
        #expect(output.stderr.contains(words), "\(output)")
        #expect(try place.contents(of: Self.path) == before)
    }

    @Test("keys doctor and keys verify exit 65 and say that the log revokes the key that signs")
    func reported() throws {
        let (kid, snapshot) = try Self.restored.get()
        let place = try snapshot.place()
        let words = "the audit log revokes key \(kid) at \(Workplace.now), and the keyset signs with it"
        for command in ["doctor", "verify"] {
            let output = try place.run("keys", command, Self.path, "--at", Workplace.now)
            #expect(output.exit == 65, "\(output)")
            #expect(output.text.contains(words), "\(output)")
            #expect(output.text.contains("pushcrypt keys restore Keys/app"), "\(output)")
        }
    }

    @Test("every error of an earlier copy has the command that restores it; keys verify doesn't check the states")
    func adviceOfAll() throws {
        let place = try Self.restored.get().place.place()
        try place.settle("Keys")
        let doctor = try place.run("keys", "doctor", Self.path, "--json", "--at", Workplace.now)
        let list = try JSONSerialization.jsonObject(with: doctor.stdout) as? [[String: String]]
        let errors = try #require(list, "\(doctor)").filter { $0["severity"] == "error" }
        #expect(errors.first?["message"]?.hasPrefix("the audit log has 2 changes after") == true, "\(doctor)")
        let command = "pushcrypt keys restore Keys/app --back-in-time"
        #expect(errors.allSatisfy { $0["advice"]?.hasPrefix(command) == true }, "\(doctor)")
        let verify = try place.run("keys", "verify", Self.path, "--json", "--at", Workplace.now)
        let checks = try #require(JSONSerialization.jsonObject(with: verify.stdout) as? [[String: Any]], "\(verify)")
        let lives = checks.filter { $0["check"] as? String == "lives" }
        #expect(lives.map { $0["outcome"] as? String } == ["unchecked"], "\(verify)")
        let bad = checks.filter { $0["outcome"] as? String == "bad" }
        #expect(bad.allSatisfy { ($0["advice"] as? String)?.hasPrefix(command) == true }, "\(verify)")
        #expect(bad.contains { $0["check"] as? String == "public" }, "\(verify)")
    }

    @Test(
        "the command in the message and in keys doctor restores the keyset when it is pasted, also with a space in its name",
        arguments: ["rotate", "keys doctor", "keys log --start-new --reason forget --yes"])
    func pasted(_ command: String) throws {
        let place = try Self.restored.get().place.place()
        let path = "Keys/my app"
        try place.move(Self.path, to: path)
        let output = try place.run(
            command.split(separator: " ").map(String.init) + [path, "--at", Workplace.now])
        let text = output.stderr + output.text
        let advised = try #require(text.firstMatch(of: /pushcrypt (keys restore '[^']*'[ a-z-]*)/)?.1, "\(output)")
        let restored = try place.shell("\"$PUSHCRYPT\" \(advised) --at \(Workplace.now)")
        #expect(restored.exit == 0 && restored.text.contains("restored as seq"), "\(restored)")
        #expect(try place.run("keys", "verify", path, "--at", Workplace.now).exit == 0)
    }

    static let advisers = [
        "rotate Keys/app", "keys add Keys/app", "keys doctor Keys/app", "keys verify Keys/app", "status Keys",
        "keys log Keys/app --start-new --reason forget --yes",
    ]

    @Test(
        "the command that restores an encrypted keyset has the given passphrase file, and works as printed",
        arguments: advisers)
    func pastedWithSecret(_ command: String) throws {
        let place = try Workplace()
        try place.createEncrypted(Self.path, .sender)
        let backup = try place.read("\(Self.path)/keyset.json")
        let time = ["--at", Workplace.now, "--passphrase-file", "passphrase"]
        try #require(try place.run(["keys", "policy", Self.path, "--keep", "3"] + time).isSuccess)
        try place.write(backup, to: "\(Self.path)/keyset.json")
        let output = try place.run(command.split(separator: " ").map(String.init) + time)
        let text = output.stderr + output.text
        let advised = try #require(text.firstMatch(of: /pushcrypt (keys restore [^`#\n]*)/)?.1, "\(output)")
        let restored = try place.shell("\"$PUSHCRYPT\" \(advised) --at \(Workplace.now) </dev/null")
        #expect(restored.exit == 0 && restored.text.contains("restored as seq"), "\(restored)")
    }

    @Test("status and keys doctor of an earlier copy with a signed set advise no command that is refused")
    func onlyRestore() throws {
        let signed = try SignedSetPlace()
        let place = signed.place
        let backup = try place.read("Keys/senders/keyset.json")
        try place.succeed("rotate", "Keys/senders", "--now")
        try place.write(backup, to: "Keys/senders/keyset.json")
        for day in [1, 50, 70, 100, 400] {
            for command in ["status", "doctor"] {
                let arguments = command == "status" ? ["status"] : ["keys", "doctor"]
                let output = try place.run(
                    arguments + ["Keys/senders", "--at", SignedSetPlace.day(day), "--json"])
                #expect(output.text.contains("pushcrypt keys restore Keys/senders --back-in-time"), "\(output)")
                for words in [
                    "pushcrypt rotate", "keys prune", "keys passwd Keys/senders\"", "opens until", "opens nothing",
                ] {
                    #expect(!output.text.contains(words), "day \(day), \(words): \(output)")
                }
                #expect(output.text.contains("keys passwd Keys/senders  # after you have corrected the keyset's error"))
            }
        }
    }

    @Test("keys doctor doesn't advise to rotate an earlier copy for a program that hasn't run")
    func hook() throws {
        let place = try Self.restored.get().place.place()
        try place.write(Data("#!/bin/sh\n".utf8), to: "hook", mode: 0o700)
        try place.succeed("rotate", "Keys/fleet", "--exec-on-change", "./hook")
        try place.succeed("keys", "policy", "Keys/fleet", "--keep", "3")
        #expect(
            try place.run("keys", "doctor", "Keys/fleet", "--at", Workplace.now).text.contains(
                "--exec-on-change ./hook"))
        _ = try place.shell("cp -p Keys/fleet/hook.json Keys/app/hook.json")
        let output = try place.run("keys", "doctor", Self.path, "--json", "--at", Workplace.now)
        #expect(output.text.contains("rolled-back") && !output.text.contains("hook-unfinished"), "\(output)")
    }

    @Test("keys list and keys show print the keys and a note that the keyset is an earlier copy")
    func listed() throws {
        let (kid, snapshot) = try Self.restored.get()
        let place = try snapshot.place()
        for command in [["list", Self.path], ["show", Self.path, kid]] {
            let output = try place.run(["keys"] + command + ["--at", Workplace.now])
            #expect(output.exit == 0 && output.text.contains(kid), "\(output)")
            #expect(output.stderr.contains("the keyset is an earlier copy"), "\(output)")
        }
    }

    @Test("text, JSON and picture say that it is an earlier copy, whose keys no command uses")
    func marked() throws {
        let (kid, snapshot) = try Self.restored.get()
        let place = try snapshot.place()
        func run(_ command: String) throws -> Output {
            try place.run(command.split(separator: " ").map(String.init) + ["--at", Workplace.now])
        }
        let list = try run("keys list Keys/app --picture a.svg").text
        #expect(list.contains("Problem: the audit log has 2 changes after the keyset's"), "\(list)")
        #expect(!list.contains("yes"), "\(list)")
        let picture = String(decoding: try place.read("a.svg"), as: UTF8.self)
        #expect(picture.contains("an earlier copy, which no command uses"))
        let json = try run("keys list Keys/app --json")
        let row = try #require((try JSONSerialization.jsonObject(with: json.stdout) as? [[String: Any]])?.first)
        #expect((row["problem"] as? String)?.contains("the keyset is an earlier copy") == true, "\(json)")
        #expect(row["sealsNow"] as? Bool == false && row["opensNow"] as? Bool == false)
        let shown = try run("keys show Keys/app \(kid)").text
        #expect(shown.contains("no: the keyset is an earlier copy, which no command uses"), "\(shown)")
        #expect(!shown.contains("broken") && !shown.contains("yes: it signs"), "\(shown)")
        #expect(try run("keys show Keys/app \(kid) --json").object()["problem"] is String)
    }

    @Test("keys list of its keystore exits 75 and calls it an earlier copy, and not unreadable")
    func keystore() throws {
        let place = try Self.restored.get().place.place()
        let output = try place.run("keys", "list", "Keys", "--at", Workplace.now, "--picture", "a.svg")
        #expect(output.exit == 75, "\(output)")
        #expect(output.text.contains("an earlier copy") && !output.text.contains("can't be read"), "\(output)")
        #expect(!String(decoding: try place.read("a.svg"), as: UTF8.self).contains("can't be read"))
    }

    @Test("an encrypted keyset is refused before the tool asks for its secret")
    func encrypted() throws {
        let place = try Workplace()
        try place.createEncrypted(Self.path, .sender)
        let backup = try place.read("\(Self.path)/keyset.json")
        let secret = ["--passphrase-file", "passphrase"]
        try #require(
            try place.run(["keys", "policy", Self.path, "--keep", "3", "--at", Workplace.now] + secret).isSuccess)
        try place.write(backup, to: "\(Self.path)/keyset.json")
        let output = try place.run("keys", "add", Self.path, "--at", Workplace.now)
        expectRefusal(output, 75, saying: "the audit log has 1 change after the keyset's last one")
    }
}
