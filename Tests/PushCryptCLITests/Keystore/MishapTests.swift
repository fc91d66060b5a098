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
        let output = try host.run(["revoke", "senders", "--yes"], key: kid, day: day, on: name)
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
        let revoked = try host.run(["revoke", "senders", "--yes"], key: kid, day: 1)
        #expect(revoked.exit == 78 && revoked.stderr.contains("the publisher of epoch 1 isn't here"), "\(revoked)")
        #expect(try host.servedKeys()[kid]?["revokedAt"] == nil)
        #expect(try host.run("publish", day: 1).exit == 78)
        try host.copyFile("backup", to: "app.keyset")
        try host.succeed("restore", "app", host.file("app.keyset"), "--over", day: 1)
        try expectRevoked(kid)
        try host.expectHealthy(day: 1)
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
        // A copy that no secret of the host opens.
        try host.place.write(Data("a passphrase of another host".utf8), to: "other")
        try host.succeed(
            "keys", "secret", "set", host.file("a/Publisher/app"), "--new-passphrase-file", host.file("other"))
        try host.copyFile("a/Publisher/app.keyset", to: "copy")
        expectRefusal(try host.run("restore", "senders", host.file("copy"), day: 1), 64, saying: "are two keysets")
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
}
