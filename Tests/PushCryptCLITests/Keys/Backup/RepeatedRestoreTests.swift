import Foundation
import PushCryptCore
import PushCryptTestSupport
import Testing

/// What `keys restore` says and does beyond the first restoration.
@Suite("keys restore, repeated and of a lost folder", .ownThreads)
struct RepeatedRestoreTests {
    private static let path = RestoreTests.path

    @Test("the same backup and the same earlier copy can be restored again and again")
    func again() throws {
        let made = try RestoreTests.made.get()
        let place = try made.place.place()
        for damage in ["rm Keys/app/keyset.json", "rm Keys/app/keyset.json", "cp -p old/keyset.json Keys/app/"] {
            _ = try place.shell(damage)
            let output = try place.run(RestoreTests.restore(["--back-in-time"]))
            #expect(output.exit == 0, "\(damage): \(output)")
            let revocations = output.text.split(separator: "\n").count { $0.hasPrefix("  revoked \(made.leaked)") }
            #expect(revocations == 1 && !output.text.contains("revoked \(made.leaked) at"), "\(output)")
            #expect(try place.run("keys", "verify", Self.path, "--at", Workplace.now).exit == 0)
        }
        #expect(try place.keys(Self.path, at: Workplace.now).first { $0.kid == made.leaked }?.state == "revoked")
        _ = try place.shell("cp -p old/keyset.json Keys/app/")
        let doctor = try place.run("keys", "doctor", Self.path, "--at", Workplace.now)
        #expect(doctor.text.split(separator: "revokes key \(made.leaked)").count == 2, "\(doctor)")
    }

    @Test(
        "keys restore without names leaves out lost publishers, names the command for them, and restores them by their path"
    )
    func publishers() throws {
        let place = try Workplace()
        try place.create("Keys/web", "sender")
        try place.create("Publisher/app", "publisher")
        try place.write(Data("a long winter".utf8), to: "secret")
        let sealing = ["--backup-passphrase-file", "secret", "--at", Workplace.now]
        let backup = try place.run(["keys", "backup", "--all", "Keys", "Publisher", "--to", "backup"] + sealing)
        try #require(backup.exit == 0, "\(backup)")
        _ = try place.shell("rm -r Keys/web Publisher/app")
        let restored = try place.run(["keys", "restore", "--from", "backup"] + sealing)
        #expect(restored.exit == 0, "\(restored)")
        #expect(restored.stderr.contains("`pushcrypt keys restore --from backup Publisher/app`"), "\(restored)")
        #expect(try place.names(in: "Keys") == ["web"])
        let named = try place.run(["keys", "restore", "--from", "backup", "Publisher/app"] + sealing)
        #expect(named.exit == 0 && place.has("Publisher/app/keyset.json"), "\(named)")
    }

    @Test("--back-in-time of a backup with several keysets exits 64 without their names, and changes nothing")
    func severalKeysets() throws {
        let place = try Workplace()
        for name in ["app", "web"] { try place.create("Keys/\(name)", "sender") }
        try place.write(Data("a long winter".utf8), to: "secret")
        let sealing = ["--backup-passphrase-file", "secret", "--at", Workplace.now]
        let backup = try place.run(["keys", "backup", "--all", "Keys", "--to", "backup"] + sealing)
        try #require(backup.exit == 0, "\(backup)")
        for name in ["app", "web"] { try place.succeed("keys", "policy", "Keys/\(name)", "--keep", "3") }
        let before = try ["app", "web"].map { try place.contents(of: "Keys/\($0)") }
        let restore = ["keys", "restore", "--from", "backup", "--back-in-time"] + sealing
        expectRefusal(
            try place.run(restore), 64, saying: "name the keysets that need it: backup has Keys/app, Keys/web")
        #expect(try ["app", "web"].map { try place.contents(of: "Keys/\($0)") } == before)
        #expect(try place.run(restore + ["Keys/app"]).exit == 0)
        #expect(try place.contents(of: "Keys/web") == before[1])
    }

    @Test("a copy whose destroyed key was destroyed by an earlier restoration too is restored again")
    func destroyedTwice() throws {
        let place = try Workplace()
        let first = try place.create("Keys/fleet", "shared")
        let copy = try place.read("Keys/fleet/keyset.json")
        try place.succeed("keys", "revoke", "Keys/fleet", first, "--yes")
        try place.succeed("keys", "destroy", "Keys/fleet", first, "--force")
        for _ in 0..<2 {
            try place.write(copy, to: "Keys/fleet/keyset.json")
            let output = try place.run(["keys", "restore", "Keys/fleet", "--back-in-time"] + RestoreTests.at)
            #expect(output.exit == 0, "\(output)")
            #expect(try place.states("Keys/fleet", at: Workplace.now).sorted() == ["destroyed", "primary"])
        }
    }

    @Test(
        "a restored keyset without a log of the time after the backup says that later revocations are not repeated",
        arguments: [
            ("rm -r Keys/app", "no audit log"), ("rm Keys/app/keyset.json Keys/app/audit.jsonl", "no audit log"),
            ("rm -r Keys/app && cp -a old Keys/app", "an audit log that ends before the backup"),
        ], [[], ["--dry-run"]])
    func forgotten(_ test: (damage: String, words: String), _ options: [String]) throws {
        let place = try RestoreTests.made.get().place.place()
        _ = try place.shell(test.damage)
        let output = try place.run(RestoreTests.restore(options))
        #expect(output.exit == 0, "\(output)")
        #expect(
            output.stderr.contains(
                "pushcrypt: Keys/app: the folder has \(test.words), so this restores keys that were revoked or destroyed after "
                    + "\(Workplace.now): revoke them again"), "\(output)")
    }

    @Test(
        "after a restore without the later log, doctor and status report an error with the time of the backup until --confirm",
        arguments: ["rm -r Keys/app", "rm -r Keys/app && cp -a old Keys/app"])
    func unconfirmed(_ damage: String) throws {
        let made = try RestoreTests.made.get()
        let place = try made.place.place()
        _ = try place.shell(damage)
        let restored = try place.run(RestoreTests.restore())
        #expect(restored.exit == 0, "\(restored)")
        let words = "changes after \(Workplace.now) are unknown"
        #expect(restored.text.contains("restored without its later log: \(words)"), "\(restored)")
        let line = "pushcrypt keys restore Keys/app --confirm"
        #expect(restored.stderr.contains("`\(line)`"), "\(restored)")
        // A later change doesn't hide it.
        let later = ["--at", Workplace.later(Workplace.days)]
        try place.succeed("keys", "revoke", Self.path, made.leaked, "--yes", at: Workplace.later(Workplace.days))
        try place.settle("Keys")
        func found() throws -> [[String: Any]] {
            let output = try place.run(["keys", "doctor", Self.path, "--json"] + later)
            return try #require(JSONSerialization.jsonObject(with: output.stdout) as? [[String: Any]], "\(output)")
                .filter { $0["code"] as? String == "unconfirmed-restore" }
        }
        let finding = try #require(found().first)
        #expect(finding["severity"] as? String == "error")
        let message = try #require(finding["message"] as? String)
        #expect(
            message.contains(words) && message.contains("pushcrypt keys list Keys/app")
                && message.contains("pushcrypt keys revoke Keys/app KID"), "\(message)")
        #expect((finding["advice"] as? String)?.hasPrefix("\(line)  # ") == true, "\(finding)")
        #expect(try place.run(["status", Self.path] + later).exit == 2)

        let confirmed = try place.run(Array(line.split(separator: " ").dropFirst().map(String.init)) + later)
        #expect(
            confirmed.exit == 0 && confirmed.text.contains("confirmed the restoration: of \(Workplace.now)"),
            "\(confirmed)")
        #expect(try found().isEmpty)
        #expect(try place.run(["status", Self.path] + later).exit == 1)
        #expect(try place.run(["keys", "verify", Self.path] + later).exit == 0)
        let before = try place.contents(of: Self.path)
        let idle = try place.run(["keys", "restore", Self.path, "--confirm"] + later)
        #expect(idle.exit == 0 && idle.stderr.contains("there is no restoration to confirm"), "\(idle)")
        #expect(try place.contents(of: Self.path) == before)
    }

    @Test(
        "--confirm takes a keyset and no option of a restoration",
        arguments: [
            [], ["Keys/app", "--from", "backup"], ["Keys/app", "--back-in-time"], ["Keys/app", "--dry-run"],
            ["Keys/app", "--writer", "this"],
        ])
    func confirmUsage(_ options: [String]) throws {
        expectUsageError(try Workplace().run(["keys", "restore", "--confirm"] + options))
    }

    @Test("a name without a folder is refused where it would leave the keystore, and ./NAME or NAME in it is restored")
    func bareName() throws {
        let place = try RestoreTests.made.get().place.place()
        let options = ["--from", "backup"] + RestoreTests.sealing + RestoreTests.at
        let refused = try place.run(["keys", "restore", "app"] + options)
        expectRefusal(
            refused, 64, saying: "app would be outside the keystore. To restore it there, name Keys/app")
        #expect(refused.stderr.contains("to restore it in the working folder, name ./app"), "\(refused)")
        #expect(!place.has("app"))
        expectRefusal(
            try place.run(["keys", "restore", "nosuch"] + options), 66,
            saying: "backup has no keyset nosuch; it has: Keys/app")
        expectRefusal(
            try place.run(["keys", "restore", "Other/nosuch"] + options), 66, saying: "it has: Other/app")
        let here = try place.run(["keys", "restore", "./app"] + options)
        #expect(here.exit == 0 && place.has("app/keyset.json"), "\(here)")
        _ = try place.shell("rm -r app Keys/app; mkdir -m 700 Keys/inner; cp -a old Keys/other")
        let inside = try place.shell(
            "cd Keys && \"$PUSHCRYPT\" keys restore app --from ../backup --backup-passphrase-file ../backup-pass --at "
                + Workplace.now)
        #expect(inside.exit == 0 && place.has("Keys/app/keyset.json"), "\(inside)")
    }

    @Test("a signed set that comes from a lost folder's backup may be older than the served one, and the note says so")
    func servedSet() throws {
        let place = try Workplace()
        try place.createEncrypted(Self.path, .sender)
        let secret = ["--passphrase-file", "passphrase"]
        try place.succeed("keys", "policy", Self.path, "--publish-topic", "com.example.app", secret[0], secret[1])
        try place.succeed("keys", "backup", Self.path, "--to", "backup")
        _ = try place.shell("rm -r Keys/app")
        let output = try place.run(["keys", "restore", "--from", "backup"] + secret + RestoreTests.at)
        #expect(
            output.stderr.contains(
                "if a set with a higher seq was published, raise seq with `pushcrypt keys policy Keys/app --publish-seq N "
                    + "--passphrase-file passphrase`"
            ),
            "\(output)")
    }

    @Test("a keyset whose log goes on after the backup, or ends with it, gets no such note")
    func remembered() throws {
        let place = try RestoreTests.made.get().place.place()
        _ = try place.shell("rm Keys/app/keyset.json")
        let output = try place.run(RestoreTests.restore(["--back-in-time"]))
        #expect(output.exit == 0 && !output.stderr.contains("revoke them again"), "\(output)")
    }

    @Test("changes under a wrong clock are not advised to be repeated, and the message names the runbook")
    func wrongClock() throws {
        let place = try Workplace()
        try place.createAtNewYear(Self.path)
        try place.write(Data("a long winter".utf8), to: "backup-pass")
        try place.succeed("keys", "backup", Self.path, "--to", "backup", "--backup-passphrase-file", "backup-pass")
        let ahead = try place.run("rotate", Self.path, "--at", "2026-12-28T04:00:00Z")
        try #require(ahead.exit == 0 && ahead.text.contains("done "), "\(ahead)")
        let before = try place.contents(of: Self.path)
        let output = try place.run(RestoreTests.restore())
        expectRefusal(
            output, 75,
            saying: "these changes were made under a wrong clock: see docs/runbooks/wrong-clock.md")
        #expect(!output.stderr.contains("--back-in-time"), "\(output)")
        #expect(try place.contents(of: Self.path) == before)
    }

    @Test("nothing to restore is not said with a wrong passphrase")
    func wrongPassphrase() throws {
        let place = try Workplace()
        try place.createEncrypted(Self.path, .sender)
        try place.succeed("keys", "backup", Self.path, "--to", "backup")
        try place.write(Data("another horse".utf8), to: "other")
        let command = ["keys", "restore", "--from", "backup", Self.path] + RestoreTests.at
        expectRefusal(
            try place.run(command + ["--passphrase-file", "other"]), 77, saying: "the passphrase is wrong")
        let output = try place.run(command + ["--passphrase-file", "passphrase"])
        #expect(output.exit == 0 && output.text.contains("nothing to restore"), "\(output)")
    }

    @Test("a backup from before keys passwd asks for the passphrase of its time")
    func earlierPassphrase() throws {
        let place = try Workplace()
        try place.createEncrypted(Self.path, .sender)
        try place.succeed("keys", "backup", Self.path, "--to", "backup")
        try place.write(Data("another horse".utf8), to: "other")
        try place.succeed(
            "keys", "passwd", Self.path, "--passphrase-file", "passphrase", "--new-passphrase-file", "other")
        let command = ["keys", "restore", "--from", "backup", Self.path, "--back-in-time"] + RestoreTests.at
        expectRefusal(
            try place.run(command + ["--passphrase-file", "other"]), 77,
            saying: "backup opens with the passphrase that the keyset had at \(Workplace.now)")
        let output = try place.run(command + ["--passphrase-file", "passphrase"])
        #expect(output.exit == 0, "\(output)")
        #expect(
            output.stderr.contains(
                "the restored keyset has those of the copy again: to change them again: `pushcrypt keys passwd Keys/app "
                    + "--passphrase-file passphrase`"
            ),
            "\(output)")
    }

    @Test("a dry run says what would be done, and what is lost in the words of keys log")
    func dryRun() throws {
        let place = try RestoreTests.made.get().place.place()
        try place.succeed("keys", "policy", Self.path, "--publish-topic", "com.example.app")
        _ = try place.shell("rm Keys/app/keyset.json")
        let refused = try place.run(RestoreTests.restore())
        expectRefusal(refused, 75, saying: "changed the policy at \(Workplace.now) (")
        #expect(!refused.stderr.contains("{"), "\(refused)")
        let output = try place.run(RestoreTests.restore(["--back-in-time", "--dry-run"]))
        #expect(output.text.hasPrefix("Keys/app: would be restored as seq "), "\(output)")
        #expect(output.text.contains(", with these changes:\n  restored: "), "\(output)")
        #expect(!output.text.contains("publish the new set now"), "\(output)")
    }

    @Test(
        "a backup that ends early, or has bytes after its end, is damaged, and another file is not a backup",
        arguments: [
            ("head -c 500 backup > bad", "bad is damaged: it ends early, or something follows its end"),
            ("(cat backup; echo x) > bad", "bad is damaged: it ends early, or something follows its end"),
            ("echo '{}' > bad", "bad: not a backup of keysets"), ("echo text > bad", "bad: not a backup of keysets"),
        ])
    func damagedBackup(_ test: (damage: String, words: String)) throws {
        let place = try RestoreTests.made.get().place.place()
        _ = try place.shell(test.damage)
        expectRefusal(
            try place.run(["keys", "restore", "--from", "bad"] + RestoreTests.sealing + RestoreTests.at), 65,
            saying: test.words)
    }

    @Test("a backup from before keys log --start-new is refused with that cause")
    func startedNew() throws {
        let place = try RestoreTests.made.get().place.place()
        try place.edit("Keys/app/audit.jsonl") { $0.replacing("created", with: "added") }
        try place.succeed("keys", "log", Self.path, "--start-new", "--reason", "drill", "--yes")
        expectRefusal(
            try place.run(RestoreTests.restore()), 65,
            saying: "a new log was started at \(Workplace.now), after the backup")
    }
}
