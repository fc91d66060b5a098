import Foundation
import PushCryptTestSupport
import Testing

/// Each mishap of a keystore: what the tool says, and the one command after which all is healthy.
@Suite("Mishaps", .ownThreads)
struct MishapTests {
    private let host: KeystorePlace
    private let senders: String

    init() throws {
        host = try KeystorePlace()
        try host.succeed("rotate")
        senders = host.file("a/Keys/senders.keyset")
    }

    private func revoke(_ kid: String, day: Int, on name: String = "a") throws {
        let time = Workplace.later(day * Workplace.days)
        let output = try host.run(
            name, ["revoke", "senders", "--yes", "--at", time, "--", kid], day: day, settings: "\(name)/pushcrypt.json")
        try #require(output.exit == 0, "\(output)")
    }

    private func expectRevoked(_ kid: String) throws {
        #expect(try host.servedKeys()[kid]?["revokedAt"] != nil)
    }

    @Test func `an old copy comes back: the history is longer, and restore goes on from it with the revocation`() throws
    {
        let kid = try #require(host.kids().first)
        try host.copyFile("a/Keys/senders.keyset", to: "backup")
        try revoke(kid, day: 1)
        let lost = try #require(host.kids().last)
        try host.copyFile("backup", to: "a/Keys/senders.keyset")
        let refused = try host.run("rotate", day: 2)
        expectRefusal(refused, 78, saying: "\(senders) is an old copy")
        #expect(refused.stderr.contains("`pushcrypt restore \(senders)`"), "\(refused)")
        let restored = try host.succeed("restore", senders, day: 2)
        #expect(restored.text.contains("key \(lost) is lost: no file has it"), "\(restored)")
        // This host has seen the last line.
        #expect(!restored.stderr.contains("was a key revoked since?"), "\(restored)")
        try expectRevoked(kid)
        try host.expectHealthy(day: 2)
        #expect(try host.kids().count == 3)
        #expect(try host.run("status", day: 2).text.contains("with a copy: `pushcrypt restore \(senders) FILE`"))
    }

    @Test func `a snapshot of all keystores comes back: restore without arguments continues each keyset that is old`()
        throws
    {
        let kid = try #require(host.kids().first)
        for name in ["Keys", "Publisher"] { try host.copyFile("a/\(name)", to: "snapshot-\(name)") }
        try revoke(kid, day: 1)
        try host.succeed("rotate", "--now", "fleet", day: 1)
        for name in ["Keys", "Publisher"] { try host.copyFile("snapshot-\(name)", to: "a/\(name)") }
        let refused = try host.run("rotate", day: 2)
        #expect(refused.exit == 78 && refused.stderr.contains("fleet.keyset is an old copy"), "\(refused)")
        try host.succeed("restore", day: 2)
        try expectRevoked(kid)
        try host.expectHealthy(day: 2)
    }

    @Test func `another host is refused, restore moves the keyset to it, and then the first host is refused`() throws {
        try host.copy("a", to: "b")
        let refused = try host.run("rotate", day: 1, on: "b")
        #expect(refused.exit == 78 && refused.stderr.contains("senders.keyset: a changes this keyset"), "\(refused)")
        let moved = try host.succeed("restore", day: 1, on: "b")
        #expect(moved.text.contains("b changes it from now on, before it was a"), "\(moved)")
        try host.expectHealthy(day: 1, on: "b")
        for path in ["Keys/senders.keyset", "Keys/fleet.keyset", "Publisher/app.keyset"] {
            try host.copyFile("b/\(path)", to: "a/\(path)")
        }
        let late = try host.run("rotate", day: 1)
        #expect(late.exit == 78 && late.stderr.contains("senders.keyset: b changes this keyset"), "\(late)")
    }

    @Test func `two hosts change copies: restore shows both, asks for one choice, and keeps both revocations`() throws {
        let kid = try #require(host.kids().first)
        try host.succeed("rotate", "--now", "senders", day: 1)
        let pending = try #require(host.kids().last)
        try host.copy("a", to: "b")
        // The operator of b took the keyset over, but host a went on.
        try host.succeed("restore", day: 2, on: "b")
        try revoke(pending, day: 2, on: "b")
        try host.place.remove("www/\(host.id()).1.json")
        try revoke(kid, day: 2)
        let histories = try ["Keys/senders", "Publisher/app"].map {
            host.file("b/history/\(try host.id("b/\($0).keyset"))")
        }
        let asked = try host.run("restore", "senders", histories[0], day: 3)
        #expect(asked.exit == 78 && asked.stderr.contains("two histories part after line"), "\(asked)")
        #expect(
            asked.stderr.contains("revoked key \(kid)") && asked.stderr.contains("revoked key \(pending)"), "\(asked)")
        let chosen = try host.succeed("restore", "senders", "app", histories[0], histories[1], "--over", day: 3)
        #expect(chosen.stderr.ranges(of: "two histories part").count == 1, "\(chosen)")
        try expectRevoked(kid)
        try expectRevoked(pending)
        try host.expectHealthy(day: 3)
    }

    @Test func `a set of another host is served: this host's keyset is refused, and restore gives the set up`() throws {
        let kid = try #require(host.kids().first)
        try host.copy("a", to: "b")
        try host.succeed("restore", day: 1, on: "b")
        try revoke(kid, day: 1, on: "b")
        let refused = try host.run("rotate", "--now", "senders", day: 1)
        #expect(refused.exit == 78 && refused.stderr.contains("`pushcrypt restore \(senders)`"), "\(refused)")
        let asked = try host.run("restore", "senders", day: 2)
        #expect(asked.exit == 78 && asked.stderr.contains("the served set of epoch 1"), "\(asked)")
        try host.succeed("restore", "senders", "--over", day: 2)
        try expectRevoked(kid)
        try host.expectHealthy(day: 2)
    }

    @Test func `an old copy on a host without its history: restore without arguments asks, and gives the set up`()
        throws
    {
        try host.copyFile("a/Keys/senders.keyset", to: "backup")
        try host.succeed("rotate", "--now", "senders", day: 1)
        try host.place.remove("a/history/\(host.id())")
        try host.copyFile("backup", to: "a/Keys/senders.keyset")
        let asked = try host.run("restore", day: 2)
        #expect(asked.exit == 78 && asked.stderr.contains("the served set of epoch 1"), "\(asked)")
        try host.succeed("restore", "--over", day: 2)
        try host.expectHealthy(day: 2)
    }

    @Test func `a clock a year ahead is refused before anything is written; a confirmed one is corrected by restore`()
        throws
    {
        let before = try host.place.contents(of: "a/Keys")
        let refused = try host.run("rotate", day: 401)
        #expect(refused.exit == 78 && refused.stderr.contains("add --confirm-clock"), "\(refused)")
        #expect(try host.place.contents(of: "a/Keys") == before)
        try host.succeed("rotate", "--confirm-clock", day: 401)
        let behind = try host.run("rotate", day: 2)
        #expect(behind.exit == 78 && behind.stderr.contains("the clock is before the last change"), "\(behind)")
        let asked = try host.run("restore", day: 2)
        #expect(asked.exit == 78 && asked.stderr.contains("--confirm-clock"), "\(asked)")
        try host.succeed("restore", "--confirm-clock", day: 2)
        try host.expectHealthy(day: 2)
        let keys = try host.servedKeys()
        #expect(!keys.isEmpty && keys.values.allSatisfy { $0["expiresAt"] == nil }, "\(keys)")
    }

    @Test func `a corrected clock leaves a key that seals, although the wrong one destroyed all others`() throws {
        try revoke(try #require(host.kids().first), day: 0)
        try host.succeed("rotate", "--now", "senders")
        try host.succeed("rotate", "--confirm-clock", day: 320)
        try host.succeed("restore", "--confirm-clock")
        let now = ISO8601DateFormatter().string(from: Date(timeIntervalSince1970: 1_772_355_600))
        let starts = try host.servedKeys().values.compactMap { $0["activatesAt"] as? String }
        #expect(starts.contains { $0 <= now }, "\(starts)")
        let next = try host.run("rotate")
        #expect(next.isSuccess && next.stdout.isEmpty, "\(next)")
    }

    @Test func `a damaged history counts as not there, and restore writes it again`() throws {
        let kid = try #require(host.kids().first)
        try host.copyFile("a/Keys/senders.keyset", to: "backup")
        try revoke(kid, day: 1)
        try host.copyFile("backup", to: "a/Keys/senders.keyset")
        let history = "a/history/\(try host.id())"
        try host.place.write(Data("junk\n".utf8), to: history)
        let refused = try host.run("rotate", day: 2)
        #expect(refused.exit == 65 && refused.stderr.contains("`pushcrypt restore`"), "\(refused)")
        let restored = try host.succeed("restore", "--over", day: 2)
        #expect(restored.stderr.contains("what this host has seen is damaged, and counts as not there"), "\(restored)")
        try expectRevoked(kid)
        try host.expectHealthy(day: 2)
    }

    @Test func `a revocation without the publisher's file exits with 78, and is published once a copy is restored`()
        throws
    {
        let kid = try #require(host.kids().first)
        try host.copyFile("a/Publisher/app.keyset", to: "backup")
        try host.place.remove("a/Publisher/app.keyset")
        let time = Workplace.later(Workplace.days)
        let revoked = try host.run("revoke", "senders", "--yes", "--at", time, "--", kid, day: 1)
        #expect(revoked.exit == 78 && revoked.stderr.contains("the publisher of epoch 1 isn't here"), "\(revoked)")
        #expect(try host.servedKeys()[kid]?["revokedAt"] == nil)
        #expect(try host.run("publish", day: 1).exit == 78)
        try host.copyFile("backup", to: "app.keyset")
        try host.succeed("restore", "app", host.file("app.keyset"), "--over", day: 1)
        try expectRevoked(kid)
        try host.expectHealthy(day: 1)
    }

    @Test func `the publisher comes back from an old copy: it signs nothing, and restore ends it`() throws {
        try host.copyFile("a/Publisher", to: "old")
        let kid = try #require(host.kids("a/Publisher/app.keyset").first)
        try host.succeed("rotate", day: 1)
        let time = Workplace.later(Workplace.days)
        let revoked = try host.run(
            "a", ["revoke", "app", "--dry-run", "--at", time, "--", kid], day: 1, settings: "a/pushcrypt.json")
        #expect(revoked.exit == 10, "\(revoked)")
        try host.copy("a", to: "b")
        try host.succeed("restore", "app", day: 1, on: "b")
        try host.copyFile("b/Publisher", to: "a/Publisher")
        try host.succeed("restore", "app", day: 2)
        try host.copyFile("old", to: "a/Publisher")
        let refused = try host.run("rotate", "--now", "senders", day: 3)
        #expect(refused.exit == 78 && refused.stderr.contains("app.keyset is an old copy"), "\(refused)")
        try host.succeed("restore", day: 3)
        try host.expectHealthy(day: 3)
    }

    @Test func `an old copy of the publisher on a host without its history is given up by a person, and signs again`()
        throws
    {
        try host.copyFile("a/Publisher", to: "old")
        try host.succeed("rotate", "--now", "app", day: 1)
        try host.succeed("rotate", "--now", "senders", day: 1)
        try host.copyFile("old", to: "a/Publisher")
        try host.place.remove("a/history/\(host.id("a/Publisher/app.keyset"))")
        let refused = try host.run("rotate", "--now", "--at-once", "senders", day: 2)
        #expect(refused.exit == 78 && refused.stderr.contains("publisher keyset is an old copy"), "\(refused)")
        #expect(try host.run("restore", day: 2).exit == 78)
        try host.succeed("restore", "--over", day: 2)
        try host.expectHealthy(day: 2)
    }

    @Test func `the history is lost: the first sight is trusted, and rotate writes it again`() throws {
        try host.place.remove("a/history")
        #expect(try host.run("rotate").isSuccess)
        #expect(host.place.has("a/history/\(try host.id())"))
        try host.expectHealthy()
    }

    @Test func `a lost publisher comes back from a copy, and signs at once what was changed since`() throws {
        try host.place.move("a/Publisher/app.keyset", to: "app.keyset")
        let unsigned = try host.run("rotate", "--now", "senders", day: 1)
        #expect(unsigned.exit == 0 && unsigned.stderr.contains("`pushcrypt publish --unsigned FILE"), "\(unsigned)")
        let missing = try host.run("rotate", day: 1)
        #expect(
            missing.exit == 66 && missing.stderr.contains("a/Publisher/app.keyset: there is no such keyset"),
            "\(missing)")
        try host.succeed("restore", "app", host.file("app.keyset"), "--over", day: 1)
        #expect(try host.servedKeys().count == 2)
        try host.expectHealthy(day: 1)
    }

    @Test func `a backup is restored twice: the file in place has all of it, and stays`() throws {
        try host.copyFile("a/Keys/senders.keyset", to: "backup.keyset")
        try host.succeed("rotate", "--now", "senders", day: 1)
        let before = try host.place.read("a/Keys/senders.keyset")
        for _ in 1...2 {
            let output = try host.run("restore", host.file("backup.keyset"), day: 1)
            #expect(output.exit == 0 && output.stderr.contains("nothing is to be restored"), "\(output)")
        }
        #expect(try host.place.read("a/Keys/senders.keyset") == before)
    }

    @Test func `a set without a signature that is ahead: a person keeps its revocation, or removes it`() throws {
        _ = try host.initialise("--recipient", "inbox", "--insecure-plaintext", "--yes")
        try host.succeed("rotate")
        let (keyset, kid) = ("a/Keys/inbox.keyset", try #require(host.kids("a/Keys/inbox.keyset").first))
        let set = "www/\(try host.id(keyset)).jwks.json"
        try host.copyFile(keyset, to: "backup")
        _ = try host.run(
            "a", ["revoke", "inbox", "--yes", "--at", Workplace.later(0), "--", kid], day: 0,
            settings: "a/pushcrypt.json")
        try expectKept(kid, of: "inbox", set: set)
    }

    @Test func `the publisher is on another host and the history is lost: a person keeps the revocation of the set`()
        throws
    {
        let (kid, set) = (try #require(host.kids().first), "www/\(try host.id()).1.json")
        try host.copyFile("a/Keys/senders.keyset", to: "backup")
        try revoke(kid, day: 0)
        try host.place.move("a/Publisher", to: "Publisher")
        try host.place.edit("a/pushcrypt.json") {
            $0.replacing(", \"\(host.file("a/Publisher"))\"", with: "").replacing(", \"app\"", with: "")
        }
        try expectKept(kid, of: "senders", set: set)
    }

    /// `backup` is of before the revocation.
    private func expectKept(_ kid: String, of name: String, set: String) throws {
        let keyset = "a/Keys/\(name).keyset"
        let history = "a/history/\(try host.id(keyset))"
        try host.copyFile("backup", to: keyset)
        try host.place.remove(history)
        let before = try host.place.read(keyset)
        let asked = try host.run("restore", name)
        #expect(asked.exit == 78 && asked.stderr.contains("It revokes \(kid): that is kept"), "\(asked)")
        #expect(try host.place.read(keyset) == before)
        let restored = try host.succeed("restore", name, "--over")
        #expect(restored.text.contains("revoked key \(kid)"), "\(restored)")
        #expect(try host.run("restore", name).stderr.contains("nothing is to be restored"))
        #expect(try host.run("status").text.contains("servedAhead") == false)
        // A forged one is removed, and the keyset goes on from the backup.
        try host.copyFile("backup", to: keyset)
        try host.place.remove(history)
        try host.place.remove(set)
        let later = try host.run("rotate")
        #expect(later.exit == 0 && !later.text.contains("revoked"), "\(later)")
    }

    @Test func `a lost key is revoked and erased, so that a copy that has it doesn't bring it back`() throws {
        let first = try #require(host.kids().first)
        try host.copyFile("a/Keys/senders.keyset", to: "backup")
        try host.succeed("rotate", "--now", "--at-once", "senders")
        let lost = try #require(host.kids().last)
        try #require(lost != first)
        try host.copyFile("a/Keys/senders.keyset", to: "later")
        try host.copyFile("backup", to: "a/Keys/senders.keyset")
        try host.succeed("restore", "senders")
        try revoke(lost, day: 0)
        try host.succeed("restore", "senders", host.file("later"), "--over")
        try expectRevoked(lost)
        try host.copyFile("backup", to: "a/Keys/senders.keyset")
        try host.succeed("restore", "senders")
        let destroyed = try host.run(
            "a", ["keys", "destroy", "senders", "--yes", "--at", Workplace.later(0), "--", lost], day: 0,
            settings: "a/pushcrypt.json")
        #expect(destroyed.exit == 0, "\(destroyed)")
        #expect(try !host.run("status").text.contains(lost))
        try host.expectHealthy()
    }

    @Test func `an expected keyset is lost beside one that isn't expected: rotate says so, and its name restores it`()
        throws
    {
        try host.succeed("keys", "create", host.file("a/Keys/other"), "--kind", "shared", "--insecure-plaintext")
        try host.place.move("a/Keys/senders.keyset", to: "copy")
        let missing = try host.run("rotate")
        #expect(missing.exit == 66 && missing.stderr.contains("\(senders): there is no such keyset"), "\(missing)")
        try host.succeed("restore", "senders", host.file("copy"), "--over")
        try host.expectHealthy()
    }

    @Test func `a copy with a secret of before is restored with that secret, beside the settings' one`() throws {
        for (name, text) in [("old", "old passphrase of 2026"), ("new", "new passphrase of 2027")] {
            try host.place.write(Data(text.utf8), to: name)
        }
        let senders = host.file("a/Keys/senders")
        try host.succeed("keys", "secret", "set", senders, "--new-passphrase-file", host.file("old"))
        try host.copyFile("a/Keys/senders.keyset", to: "copy")
        try host.succeed(
            "keys", "secret", "set", senders, "--passphrase-file", host.file("old"), "--new-passphrase-file",
            host.file("new"))
        try host.place.edit("a/pushcrypt.json") {
            $0.replacing(
                "{\n", with: "{\n  \"secrets\": {\"senders\": {\"file\": \"\(host.file("new"))\"}},\n",
                maxReplacements: 1)
        }
        try host.place.remove("a/Keys/senders.keyset")
        try host.succeed("restore", "senders", host.file("copy"), "--passphrase-file", host.file("old"))
        try host.succeed(
            "keys", "secret", "set", senders, "--passphrase-file", host.file("old"), "--new-passphrase-file",
            host.file("new"))
        try host.expectHealthy()
    }

    @Test func `one keyset in two keystores: restore names both files, and keeps both`() throws {
        let other = "a/Publisher/senders.keyset"
        try host.copyFile("a/Keys/senders.keyset", to: other)
        expectRefusal(try host.run("restore", "senders"), 78, saying: "and \(host.file(other)) are one keyset")
        try host.place.remove(other)
        try host.expectHealthy()
    }

    @Test func `a copy of a keyset that isn't named is refused, and nothing is restored`() throws {
        try host.copyFile("a/Publisher/app.keyset", to: "copy")
        let before = try host.place.read("a/Keys/senders.keyset")
        for names in [["senders"], ["senders", "fleet"]] {
            for copy in ["copy", "a/history/\(try host.id("a/Publisher/app.keyset"))"] {
                let arguments = ["restore"] + names + [host.file(copy), "--over"]
                expectRefusal(
                    try host.run("a", arguments, day: 1, settings: "a/pushcrypt.json"), 64, saying: "keyset")
            }
        }
        #expect(try host.place.read("a/Keys/senders.keyset") == before)
    }

    @Test func `a keyset's file is lost: restore asks for a file, and a copy brings it back with the history's lines`()
        throws
    {
        let kid = try #require(host.kids().first)
        try host.copyFile("a/Keys/senders.keyset", to: "senders.keyset")
        try revoke(kid, day: 1)
        try host.place.remove("a/Keys/senders.keyset")
        let refused = try host.run("restore", day: 2)
        #expect(refused.exit == 66 && refused.stderr.contains("`pushcrypt restore \(senders) FILE`"), "\(refused)")
        let restored = try host.run("restore", host.file("senders.keyset"), "--over", day: 2)
        #expect(restored.exit == 0, "\(restored)")
        try expectRevoked(kid)
        try host.expectHealthy(day: 2)
    }

    @Test func `two files have one id: commands that change refuse both, and restore leaves one`() throws {
        try host.place.remove("a/history")
        try host.copyFile("a/Keys/senders.keyset", to: "a/Keys/copy.keyset")
        let refused = try host.run("rotate", "--now", "senders")
        #expect(refused.exit == 78 && refused.stderr.contains("are one keyset"), "\(refused)")
        try host.succeed("restore", "senders")
        #expect(!host.place.has("a/Keys/copy.keyset"))
        try host.expectHealthy()
    }

    @Test func `keys that were lost come back with a file that has them`() throws {
        try host.copyFile("a/Keys/senders.keyset", to: "old")
        try host.succeed("rotate", "--now", "senders", day: 1)
        let kid = try #require(host.kids().last)
        try host.copyFile("a/Keys/senders.keyset", to: "new.keyset")
        try host.copyFile("old", to: "a/Keys/senders.keyset")
        #expect(try host.succeed("restore", day: 2).text.contains("key \(kid) is lost"))
        #expect(try host.servedKeys()[kid] == nil)
        let found = try host.succeed("restore", "senders", host.file("new.keyset"), "--over", day: 3)
        #expect(found.text.contains("key \(kid) is found again"), "\(found)")
        #expect(try host.servedKeys()[kid] != nil)
        try host.expectHealthy(day: 3)
    }
}
