import Foundation
import Testing

/// After an emergency the tool says what is left to do, as commands that work when they are pasted.
@Suite("advice after a revocation", .ownThreads)
struct NextStepsTests {
    private static let time = "2026-02-01T00:00:00Z"

    private func revoked(_ kind: String, in place: Workplace) throws -> [String] {
        let kid = try place.createAtNewYear("Keys/my app", kind)
        let output = try place.run(
            "rotate", "Keys/my app", "--emergency", "--revoke", kid, "--yes", "--at", Self.time)
        #expect(output.exit == 0 && output.stderr.contains("pushcrypt: what is left to do:\n"), "\(output)")
        return output.stderr.split(separator: "\n").filter { $0.hasPrefix("     pushcrypt ") }.map {
            String($0.dropFirst(5))
        }
    }

    /// A keyset with a retiring, a primary and a pending key on 3 April.
    private static let april = "2026-04-03T00:00:00Z"
    private static let nextDay = "2026-04-04T00:00:00Z"

    private func withThreeKeys(_ kind: String, in place: Workplace) throws -> [String] {
        try place.createAtNewYear("Keys/my app", kind)
        _ = try place.rotate("Keys/my app", at: "2026-03-26T00:00:00Z")
        try place.succeed("keys", "add", "Keys/my app", at: Self.april)
        #expect(try place.states("Keys/my app", at: Self.april) == ["retiring", "primary", "pending"])
        return try place.keys("Keys/my app", at: Self.april).map(\.kid)
    }

    @Test(
        "a keyset with a retiring and a pending key: the first step revokes both, and afterwards only the new key is accepted",
        arguments: ["sender", "shared", "recipient"])
    func otherKeys(_ kind: String) throws {
        let place = try Workplace()
        let kids = try withThreeKeys(kind, in: place)
        let output = try place.run(
            "rotate", "Keys/my app", "--emergency", "--revoke", kids[1], "--yes", "--at", Self.april)
        #expect(output.stderr.contains("  1. If the whole keyset was stolen, revoke its other keys too"), "\(output)")
        let commands = output.stderr.split(separator: "\n").map { $0.drop { $0 == " " } }.filter {
            $0.hasPrefix("pushcrypt keys revoke 'Keys/my app' ")
        }
        try #require(commands.count == 2, "\(output)")
        #expect(commands[0].contains(kids[0]) && commands[0].contains("# retiring: "), "\(commands)")
        #expect(commands[1].contains(kids[2]) && commands[1].contains("# pending: "), "\(commands)")
        for command in commands {
            let command = String(command).replacing("keys revoke ", with: "keys revoke --yes --at \(Self.april) ")
            try paste(command, [:], in: place)
        }
        #expect(
            try place.states("Keys/my app", at: Self.april) == ["revoked", "revoked", "revoked", "primary"])
    }

    @Test(
        "no step revokes the key that an emergency made: the first step says to keep it, also when no other key is left"
    )
    func replacement() throws {
        let place = try Workplace()
        let kids = try withThreeKeys("sender", in: place)
        let first = try place.run(
            "rotate", "Keys/my app", "--emergency", "--revoke", kids[1], "--yes", "--at", Self.april)
        let new = try #require(try place.keys("Keys/my app", at: Self.april).last?.kid)
        let revoke = ["keys", "revoke", "Keys/my app", "--yes", "--json", "--at", Self.april, "--"]
        let second = try place.run(revoke + [kids[0]])
        let third = try place.run(revoke + [kids[2]])
        let kept = "\(new), which was made at \(Self.april) in place of a revoked key"
        for output in [first, second] {
            #expect(output.stderr.contains("made after the theft. Keep \(kept):\n"), "\(output)")
        }
        #expect(third.stderr.contains("  1. Keep key \(kept), unless the keyset was stolen after that.\n"), "\(third)")
        for output in [first, second, third] {
            let revoking = output.stderr.split(separator: "\n").filter { $0.contains("pushcrypt keys revoke ") }
            #expect(!revoking.contains { $0.contains(new) }, "\(output)")
        }
        #expect(try (second.object()["otherKeys"] as? [[String: Any]])?.map { $0["kid"] as? String } == [kids[2]])
        #expect(try (third.object()["otherKeys"] as? [Any])?.isEmpty == true)
    }

    @Test("the program of --exec-on-change: the steps say that it has run, or have the command that runs it")
    func program() throws {
        let place = try Workplace()
        let kids = try withThreeKeys("sender", in: place)
        let script = "#!/bin/sh\ntest ! -e fails || exit 3\n"
        try place.write(Data(script.utf8), to: "publish", mode: 0o700)
        let revoke = ["keys", "revoke", "Keys/my app", "--yes", "--at", Self.april]
        let hook = ["--exec-on-change", "./publish"]
        let done = try place.run(revoke + hook + ["--", kids[0]])
        #expect(
            done.exit == 0
                && done.stderr.contains(
                    ". ./publish has run and need not run again. Apps refuse the revoked key when they have what it publishes.\n"
                ),
            "\(done)")
        #expect(!done.stderr.contains("keys publish"), "\(done)")
        let command = "pushcrypt rotate 'Keys/my app' --exec-on-change ./publish"
        let later = try place.run(revoke + ["--", kids[2]])
        #expect(later.exit == 0 && later.stderr.contains(". Run the program that runs after changes: "), "\(later)")
        #expect(later.stderr.contains("\n     \(command)\n") && !later.stderr.contains("keys publish"), "\(later)")
        try paste(command + " --at \(Self.april)", [:], in: place)
        let status = try place.run("status", "Keys", "--at", Self.april)
        #expect(!status.text.contains("the program that runs after changes"), "\(status)")
        try place.write(Data(), to: "fails")
        let failed = try place.run(revoke + hook + ["--", kids[1]])
        #expect(failed.exit == 69 && failed.stderr.contains("\n     \(command)\n"), "\(failed)")
        #expect(failed.stderr.contains("Sign the pushes that wait in a queue again"), "\(failed)")
    }

    @Test("--json of rotate --emergency, of its dry run and of keys revoke has the other keys and their commands")
    func otherKeysInJSON() throws {
        let place = try Workplace()
        let kids = try withThreeKeys("sender", in: place)
        func others(_ output: Output) throws -> [[String: Any]] {
            try #require(try output.object()["otherKeys"] as? [[String: Any]], "\(output)")
        }
        let rotate = ["rotate", "Keys/my app", "--emergency", "--revoke", kids[1], "--json", "--at", Self.nextDay]
        let before = try place.contents(of: "Keys")
        let dry = try place.run(rotate + ["--dry-run"])
        #expect(dry.exit == 10, "\(dry)")
        #expect(try dry.object()["wouldRevoke"] as? String == kids[1])
        #expect((try dry.object()["losses"] as? [String])?.count == 2, "\(dry)")
        #expect(try others(dry).map { $0["kid"] as? String } == [kids[0], kids[2]])
        #expect(try place.contents(of: "Keys") == before)
        let done = try others(try place.run(rotate + ["--promote", kids[2], "--yes"]))
        #expect(done.map { $0["kid"] as? String } == [kids[0], kids[2]])
        #expect(done.map { $0["state"] as? String } == ["retiring", "primary"])
        #expect(done[0]["createdAt"] as? String == Workplace.newYear)
        #expect((done[0]["command"] as? String)?.hasPrefix("pushcrypt keys revoke 'Keys/my app' ") == true)
        let last = try place.run(
            "keys", "revoke", "Keys/my app", "--yes", "--json", "--at", Self.nextDay, "--", kids[0])
        #expect(try others(last).map { $0["kid"] as? String } == [kids[2]], "\(last)")
    }

    @Test("a published sender keyset and a publisher with another secret: the command that publishes works when pasted")
    func publisherSecret() throws {
        let signed = try SignedSetPlace(secrets: ("red horse", "blue horse"))
        let place = signed.place
        let output = try place.run(
            "keys", "revoke", "Keys/senders", "--yes", "--passphrase-file", "sender.pass", "--at", Workplace.now, "--",
            signed.kid("Keys/senders"))
        #expect(output.exit == 0, "\(output)")
        let command = try #require(output.stderr.firstMatch(of: /pushcrypt keys publish .*/)?.0)
        #expect(output.text.contains(command), "the change and what is left to do name the same command: \(output)")
        try place.makeFolder("www", mode: 0o755)
        let values = [
            "FOLDER": "www", "Publisher/NAME": "Keys/publisher", " FILE": " publisher.pass --at \(Workplace.now)",
        ]
        try paste(String(command), values, in: place)
        #expect(place.has("www/senders.json"))
    }

    /// Runs an advised command with the placeholders replaced.
    private func paste(_ command: String, _ values: [String: String], in place: Workplace) throws {
        var script = command.replacing("pushcrypt ", with: "\"$PUSHCRYPT\" ", maxReplacements: 1)
        for (name, value) in values { script = script.replacing(name, with: value) }
        let output = try place.shell("umask 077; " + script)
        #expect(output.exit == 0, "\(script): \(output)")
    }

    @Test("a shared key: the devices' keys are exported and the queue is sealed again")
    func shared() throws {
        let place = try Workplace()
        let commands = try revoked("shared", in: place)
        try #require(commands.count == 2)
        try place.write(Data("phone-1\n".utf8), to: "ids")
        try paste(commands[0], ["FILE": "ids"], in: place)
        #expect(String(decoding: try place.read("keys.jsonl"), as: UTF8.self).contains("phone-1"))
        try place.write(Data(), to: "queue.jsonl")
        try paste(commands[1], ["TOPIC": Workplace.topic], in: place)
        #expect(place.has("resealed-my app.jsonl"))
    }

    @Test("a sender key: the sender keys are published and the queue is signed again")
    func sender() throws {
        let place = try Workplace()
        let commands = try revoked("sender", in: place)
        try #require(commands.count == 2)
        try place.makeFolder("www", mode: 0o755)
        try paste(commands[0], ["FOLDER": "www"], in: place)
        #expect(String(decoding: try place.read("www/my app.jwks.json"), as: UTF8.self).contains("revokedAt"))
        try place.createAtNewYear("Keys/fleet", "shared")
        try place.write(Data(), to: "queue.jsonl")
        try paste(commands[1], ["TOPIC": Workplace.topic, "Keys/NAME": "Keys/fleet"], in: place)
    }

    @Test("a recipient key: its registration record is exported")
    func recipient() throws {
        let place = try Workplace()
        let commands = try revoked("recipient", in: place)
        try #require(commands.count == 1)
        try paste(commands[0], [:], in: place)
        #expect(String(decoding: try place.read("record.json"), as: UTF8.self).contains("kid"))
    }

    @Test("an encrypted keyset: the commands repeat the passphrase file")
    func encrypted() throws {
        let place = try Workplace()
        try place.write(Data("secret horse\n".utf8), to: "pass")
        let created = try place.run(
            "keys", "create", "Keys/app", "--kind", "shared", "--passphrase-file", "pass", "--at", Workplace.newYear)
        let revoked = try place.run(
            "keys", "revoke", "Keys/app", created.line, "--yes", "--passphrase-file", "pass", "--at", Self.time)
        #expect(revoked.exit == 0, "\(revoked)")
        #expect(
            revoked.stderr.contains("pushcrypt keys export Keys/app --devices FILE --passphrase-file pass > keys.jsonl")
        )
    }

    @Test("a pending key: nothing of it waits in a queue")
    func pending() throws {
        let place = try Workplace()
        try place.createAtNewYear("Keys/app", "shared")
        _ = try place.rotate("Keys/app", at: Self.time, "--now")
        let kid = try #require(try place.keys("Keys/app", at: Self.time).last?.kid)
        let output = try place.run("keys", "revoke", "Keys/app", kid, "--yes", "--at", Self.time)
        #expect(output.exit == 0 && !output.stderr.contains("reseal"), "\(output)")
    }

    @Test("a payload that is too large: seal names blob seal and --offload; with --offload it names the short payload")
    func tooLarge() throws {
        let place = try Workplace()
        try place.create("Keys/ios", "recipient")
        let long = Data(#"{"aps":{"alert":"\#(String(repeating: "a", count: 5_000))"}}"#.utf8)
        expectRefusal(try place.seal(to: "Keys/ios", payload: long), 65, saying: "--offload long.json")
        try place.write(long, to: "payload.json")
        let advised = "blob seal --purpose payload --url https://example.com/b --reference long.json --output long.blob"
        let sealed = try place.run(advised.split(separator: " ").map(String.init), stdin: long)
        #expect(sealed.exit == 0, "\(sealed)")
        let short = Data(#"{"aps":{"alert":"a"}}"#.utf8)
        #expect(try place.seal(to: "Keys/ios", "--offload", "long.json", payload: short).isSuccess)
        expectRefusal(
            try place.seal(to: "Keys/ios", "--offload", "long.json", payload: long), 65, saying: "shorten this payload")
    }

    @Test("an encrypted and a plain keyset in one command: the refusal names a way that works")
    func mixed() throws {
        let place = try Workplace()
        try place.write(Data("secret horse\n".utf8), to: "pass")
        try place.create("Keys/push", "sender")
        _ = try place.run(
            "keys", "create", "Keys/ios", "--kind", "recipient", "--passphrase-file", "pass", "--at", Workplace.now)
        let seal = ["--sign-with", "Keys/push", "--passphrase-file", "pass"]
        let refused = try place.seal(to: "Keys/ios", seal[0], seal[1], seal[2], seal[3])
        expectRefusal(refused, 65, saying: "encrypt these too (`keys passwd`)")
        #expect(
            try place.run("keys", "passwd", "Keys/push", "--new-passphrase-file", "pass", "--at", Workplace.now).exit
                == 0)
        #expect(try place.seal(to: "Keys/ios", seal[0], seal[1], seal[2], seal[3]).isSuccess)
    }
}
