import Foundation
import PushCryptTestSupport
import Testing

/// A keyset.json and its log from before a revocation, beside what shows the revocation: the public file, hook.json, a served folder.
@Suite("an earlier copy with its log", .ownThreads)
struct EarlierCopyTests {
    private let place: Workplace
    private let leaked: String

    /// `old` has the files from before the revocation; `www` has the sets from before and after it.
    init() throws {
        let signed = try SignedSetPlace()
        place = signed.place
        leaked = try signed.kid("Keys/senders")
        try place.makeFolder("www", mode: 0o755)
        try expectPublished()
        _ = try place.shell("cp -a Keys/senders old")
        try give("revoke", "--yes")
        try expectPublished()
    }

    private func publish(_ options: String...) throws -> Output {
        try place.run(
            ["keys", "publish", "Keys/senders", "--to", "www", "--signed-by", "Keys/publisher", "--at", Workplace.now]
                + options)
    }

    private func expectPublished() throws {
        let output = try publish()
        try #require(output.exit == 0, "\(output)")
    }

    /// The leaked key to a command. Its id may begin with a dash.
    private func give(_ command: String, _ option: String) throws {
        let output = try place.run("keys", command, "Keys/senders", option, "--at", Workplace.now, "--", leaked)
        try #require(output.exit == 0, "\(output)")
    }

    private func putBack() throws {
        try #require(try place.shell("cp -p old/keyset.json old/audit.jsonl Keys/senders/").isSuccess)
    }

    private func errors() throws -> [String] {
        let output = try place.run(
            "keys", "doctor", "Keys/senders", "--served", "www", "--json", "--at", Workplace.now)
        let found = try #require(
            try JSONSerialization.jsonObject(with: output.stdout) as? [[String: String]], "\(output)")
        return found.filter { $0["severity"] == "error" }.map { "\($0["code"] ?? ""): \($0["message"] ?? "")" }
    }

    @Test(
        "beside a later public file, every change is refused with the key that the file revokes, and changes nothing",
        arguments: [
            ["rotate", "Keys/senders"], ["rotate", "Keys/senders", "--now"], ["rotate", "Keys/senders", "--dry-run"],
            ["keys", "add", "Keys/senders"], ["keys", "policy", "Keys/senders", "--publish-seq", "9"],
            ["keys", "passwd", "Keys/senders", "--insecure-plaintext"],
        ])
    func refused(_ command: [String]) throws {
        try putBack()
        let before = try place.contents(of: "Keys")
        expectRefusal(
            try place.run(command + ["--at", Workplace.now]), 75,
            saying:
                "Keys/senders: public.jwks.json is from a later change, seq 3, which revokes key \(leaked): the keyset is an "
                + "earlier copy with seq 2, as after a restored file. Restore the newest backup")
        #expect(try place.contents(of: "Keys") == before)
    }

    @Test(
        "beside a later public file, nothing uses the keyset's keys",
        arguments: [
            ["seal", "--to", "Keys/phone", "--sign-with", "Keys/senders", "--topic", "com.example.app", "--bare"],
            ["keys", "export", "Keys/senders"],
        ])
    func unused(_ command: [String]) throws {
        try place.create("Keys/phone", "shared")
        let payload = Data(#"{"aps":{"alert":"Hi"}}"#.utf8)
        let before = try place.run(command + ["--at", Workplace.now], stdin: payload)
        #expect(before.exit == 0, "\(before)")
        try putBack()
        expectRefusal(
            try place.run(command + ["--at", Workplace.now], stdin: payload), 75,
            saying: "public.jwks.json is from a later change, seq 3, which revokes key \(leaked)")
    }

    @Test(
        "the advised restoration raises seq, and nothing is published until it is confirmed and the key is revoked again"
    )
    func restored() throws {
        try putBack()
        let restored = try place.run("keys", "restore", "Keys/senders", "--at", Workplace.now)
        #expect(restored.exit == 0 && restored.text.contains("Keys/senders: restored as seq 4\n"), "\(restored)")
        #expect(restored.text.contains("restored without its later log: changes after \(Workplace.now) are unknown"))
        #expect(restored.text.contains("when it is confirmed, publish the new set now"), "\(restored)")
        let www = try place.contents(of: "www")
        expectRefusal(try publish(), 75, saying: "then confirm it: `pushcrypt keys restore Keys/senders --confirm`")
        let rotated = try place.run("rotate", "Keys/senders", "--at", Workplace.now)
        #expect(rotated.exit == 0 && rotated.stderr.contains("no set is signed or published"), "\(rotated)")
        try place.succeed("keys", "restore", "Keys/senders", "--confirm")
        expectRefusal(try publish(), 65, saying: "www/senders.json revokes key \(leaked), which the keyset doesn't")
        #expect(try place.contents(of: "www") == www)
        try give("revoke", "--yes")
        try expectPublished()
        #expect(try errors().isEmpty)
    }

    @Test(
        "beside a later public file, the keyset is neither published nor saved in a backup, also if the served sets are lost"
    )
    func notPublished() throws {
        try putBack()
        _ = try place.shell("rm www/*")
        try place.write(Data("a long winter".utf8), to: "secret")
        let words = "public.jwks.json is from a later change, seq 3, which revokes key \(leaked)"
        expectRefusal(try publish(), 75, saying: words)
        let backup = try place.run(
            "keys", "backup", "Keys/senders", "--to", "b", "--backup-passphrase-file", "secret", "--at", Workplace.now)
        expectRefusal(backup, 75, saying: words)
        let names = try FileManager.default.contentsOfDirectory(atPath: place.folder.file("www").path)
        #expect(names.isEmpty && !FileManager.default.fileExists(atPath: place.folder.file("b").path))
    }

    @Test("a key that a served set revokes isn't published under another name")
    func otherName() throws {
        _ = try place.shell("rm -r Keys/senders && mv old Keys/senders")
        expectRefusal(try publish("--as", "other"), 65, saying: "www/senders.json revokes key \(leaked)")
    }

    @Test("while a restoration isn't confirmed, the program of --exec-on-change doesn't run, and --confirm runs it")
    func program() throws {
        try place.write(Data("#!/bin/sh\necho \"$PUSHCRYPT_SEQ\" >> ran\n".utf8), to: "program")
        _ = try place.shell("chmod +x program")
        try putBack()
        let hook = ["--exec-on-change", "./program", "--at", Workplace.now]
        let restored = try place.run(["keys", "restore", "Keys/senders"] + hook)
        #expect(restored.exit == 75 && restored.text.contains("restored as seq 4"), "\(restored)")
        #expect(try place.run(["rotate", "Keys/senders"] + hook).exit == 75)
        #expect(!FileManager.default.fileExists(atPath: place.folder.file("ran").path))
        #expect(try place.run(["keys", "restore", "Keys/senders", "--confirm"] + hook).exit == 0)
        #expect(String(decoding: try place.read("ran"), as: UTF8.self) == "5\n")
    }

    @Test("beside a later hook.json, which shared keys have, a change is refused")
    func hook() throws {
        try place.create("Keys/fleet", "shared")
        _ = try place.shell("cp -a Keys/fleet old-fleet")
        try place.succeed("keys", "policy", "Keys/fleet", "--keep", "3", "--exec-on-change", "/bin/true")
        _ = try place.shell("cp -p old-fleet/keyset.json old-fleet/audit.jsonl Keys/fleet/")
        expectRefusal(
            try place.run("rotate", "Keys/fleet", "--now", "--at", Workplace.now), 75,
            saying:
                "Keys/fleet: hook.json is from a later change, seq 2: the keyset is an earlier copy with seq 1, as after a "
                + "restored file")
    }

    @Test(
        "keys doctor finds that hook.json is from a later change, and the advice of its comment works without a backup")
    func hookFound() throws {
        try place.create("Keys/fleet", "shared")
        _ = try place.shell("cp -a Keys/fleet old-fleet")
        try place.succeed("keys", "policy", "Keys/fleet", "--keep", "3", "--exec-on-change", "/bin/true")
        _ = try place.shell("cp -p old-fleet/keyset.json old-fleet/audit.jsonl Keys/fleet/")
        let found = try place.run("keys", "doctor", "Keys/fleet", "--at", Workplace.now)
        #expect(found.text.contains("hook.json is from a later change, seq 2: the keyset is an old copy"), "\(found)")
        #expect(found.text.contains("`pushcrypt keys restore Keys/fleet` continues from this copy"), "\(found)")
        try place.succeed("keys", "restore", "Keys/fleet")
        try place.succeed("keys", "restore", "Keys/fleet", "--confirm")
        try place.succeed("rotate", "Keys/fleet", "--now", "--exec-on-change", "/bin/true")
    }

    @Test(
        "after a later public file or an unconfirmed restoration, a keyset with a new log is unconfirmed",
        arguments: [false, true])
    func newLog(isRestored: Bool) throws {
        try putBack()
        if isRestored { try place.succeed("keys", "restore", "Keys/senders") }
        _ = try place.shell(": > Keys/senders/audit.jsonl")
        try place.succeed("keys", "log", "Keys/senders", "--start-new", "--reason", "the disk was full", "--yes")
        let found = try errors()
        #expect(found.contains { $0.hasPrefix("unconfirmed-restore: ") }, "\(found)")
        expectRefusal(try publish(), 75, saying: "keys restore Keys/senders --confirm")
    }

    @Test(
        "keys log --start-new over a log that is broken before a later revocation stays unconfirmed, with the revoked key"
    )
    func brokenLog() throws {
        _ = try place.shell("cp -p old/keyset.json Keys/senders/ && rm Keys/senders/public.jwks.json")
        try place.edit("Keys/senders/audit.jsonl") { $0.replacing("created", with: "creates") }
        try place.succeed("keys", "log", "Keys/senders", "--start-new", "--reason", "the disk was full", "--yes")
        let found = try errors()
        #expect(
            found.contains {
                $0.hasPrefix("unconfirmed-restore: ") && $0.contains("key \(leaked) was revoked at \(Workplace.now)")
            },
            "\(found)")
        expectRefusal(try publish(), 75, saying: "keys restore Keys/senders --confirm")
    }

    @Test(
        "a key that was revoked and destroyed is found in a numbered copy of the served set, and isn't published again")
    func destroyed() throws {
        try give("destroy", "--force")
        try expectPublished()
        _ = try place.shell("rm -r Keys/senders && mv old Keys/senders")
        let found = try errors()
        #expect(
            found.contains(
                "served-revoked: www/senders.3.json revokes key \(leaked), which the keyset doesn't: the keyset is a "
                    + "copy from before"), "\(found)")
        #expect(!found.contains { $0.hasPrefix("served-foreign") }, "\(found)")
        try place.succeed("keys", "policy", "Keys/senders", "--publish-seq", "9")
        expectRefusal(try publish(), 65, saying: "www/senders.3.json revokes key \(leaked), which the keyset doesn't")
    }

    @Test("after the backup of an unconfirmed restoration is restored, the earlier time is still reported")
    func nested() throws {
        let sealing = ["--backup-passphrase-file", "secret", "--at", SignedSetPlace.day(1)]
        try place.write(Data("a long winter".utf8), to: "secret")
        try putBack()
        try place.succeed("keys", "restore", "Keys/senders", at: SignedSetPlace.day(1))
        #expect(try place.run(["keys", "backup", "Keys/senders", "--to", "backup"] + sealing).exit == 0)
        _ = try place.shell("rm -r Keys/senders")
        #expect(try place.run(["keys", "restore", "Keys/senders", "--from", "backup"] + sealing).exit == 0)
        let found = try errors()
        #expect(found.contains { $0.contains("changes after \(Workplace.now) are unknown") }, "\(found)")
    }
}
