import Foundation
import PushCryptCore
import PushCryptTestSupport
import Testing

/// `keys restore` of a backup that was restored before, as after a command that was killed.
@Suite("keys restore of a backup that was restored already", .ownThreads)
struct AlreadyRestoredTests {
    private static let path = RestoreTests.path
    private static let nothing = "nothing to restore: Keys/app has been restored from this backup already\n"

    private static let dayOne = "2026-03-02T09:00:00Z"

    private static func restore(_ options: [String], day: Int) -> [String] {
        ["keys", "restore", path, "--from", "backup"] + RestoreTests.sealing + options
            + ["--at", Workplace.later(day * Workplace.days)]
    }

    @Test(
        "the same command after a whole restoration restores nothing, changes no file and exits 0",
        arguments: [
            ("rm -r Keys/app", []), ("rm -r Keys/app && cp -a old Keys/app", []),
            ("rm Keys/app/keyset.json", ["--back-in-time"]), ("cp -p old/keyset.json Keys/app/", ["--back-in-time"]),
        ])
    func repeated(_ test: (damage: String, options: [String])) throws {
        let place = try RestoreTests.made.get().place.place()
        _ = try place.shell(test.damage)
        let first = try place.run(Self.restore(test.options, day: 1))
        try #require(first.exit == 0, "\(first)")
        let before = try place.contents(of: Self.path)
        // A restoration without the later log stays unconfirmed, and says so again.
        let isUnconfirmed = first.stderr.contains("until you confirm it")
        for options in [[], ["--back-in-time"], ["--dry-run"]] {
            let output = try place.run(Self.restore(options, day: 2))
            #expect(output.exit == 0 && output.text == Self.nothing, "\(output)")
            #expect(output.stderr.contains("until you confirm it") == isUnconfirmed, "\(output)")
            #expect(try place.contents(of: Self.path) == before)
        }
        // A later change is one that another restoration would lose.
        try place.succeed("keys", "policy", Self.path, "--keep", "7", at: Workplace.later(3 * Workplace.days))
        let refused = try place.run(Self.restore([], day: 4))
        expectRefusal(refused, 75, saying: "restored at \(Self.dayOne)")
        #expect(refused.stderr.contains("changed the policy at"), "\(refused)")
    }

    @Test(
        "a restoration that was killed after it wrote the keyset is finished when it is repeated, and not made again",
        .enabled(if: FaultPoints.exist, FaultPoints.missing), arguments: ["keyset-renamed", "published"])
    func killed(_ point: String) throws {
        let made = try RestoreTests.made.get()
        let place = try made.place.place()
        _ = try place.shell("cp -p old/keyset.json Keys/app/")
        let command = RestoreTests.restore(["--back-in-time"])
        #expect(try place.run(command, dyingAt: point).signal == SIGKILL)
        let output = try place.run(command)
        #expect(output.exit == 0 && output.text == Self.nothing, "\(output)")
        #expect(output.stderr.contains("which an interrupted change had not finished"), "\(output)")
        try RestoreTests.expectRepeated(place, made, "\(point)")
    }

    @Test("a restored keyset whose key or lifecycle was edited since is restored again")
    func editedSince() throws {
        let place = try Workplace()
        try place.create(Self.path, "sender")
        try place.write(Data("a long winter".utf8), to: "backup-pass")
        try place.succeed("keys", "backup", Self.path, "--to", "backup", "--backup-passphrase-file", "backup-pass")
        _ = try place.shell("rm -r Keys/app")
        try #require(try place.run(RestoreTests.restore()).exit == 0)
        let restored = try place.read("Keys/app/keyset.json")
        #expect(try place.run(RestoreTests.restore()).text.hasPrefix("nothing to restore: "))
        for (old, new) in [
            (#""createdAt": "\#(Workplace.now)""#, #""createdAt": "2026-02-28T09:00:00Z""#),
            (#""keep": 2"#, #""keep": 5"#),
        ] {
            try place.edit("Keys/app/keyset.json") { $0.replacing(old, with: new) }
            expectRefusal(try place.run(RestoreTests.restore()), 75, saying: "is older than the audit log")
            try place.write(restored, to: "Keys/app/keyset.json")
        }
    }

    @Test("a restoration of several keysets that ended after the first one restores the others when it is repeated")
    func others() throws {
        let place = try Workplace()
        for name in ["a", "b"] { try place.createEncrypted("Keys/\(name)", .sender) }
        let secret = ["--passphrase-file", "passphrase"]
        try place.succeed("keys", "backup", "--all", "--to", "backup", secret[0], secret[1])
        let command = ["keys", "restore", "--from", "backup"] + secret + RestoreTests.at
        _ = try place.shell("rm -r Keys/a Keys/b")
        try #require(try place.run(command + ["Keys/a"]).exit == 0)
        let output = try place.run(command)
        #expect(output.exit == 0, "\(output)")
        let words = Self.nothing.replacing("app", with: "a") + "Keys/b: restored as seq"
        #expect(output.text.hasPrefix(words), "\(output)")
        #expect(try place.run("keys", "verify", "Keys/b", "--at", Workplace.now).exit == 0)
    }
}
