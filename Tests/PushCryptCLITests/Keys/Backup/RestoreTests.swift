import Foundation
import PushCryptCore
import PushCryptTestSupport
import Testing

/// A backup, then a rotation, a leak and its revocation, and then a disaster.
@Suite("keys restore", .ownThreads)
struct RestoreTests {
    static let path = "Keys/app"
    static let sealing = ["--backup-passphrase-file", "backup-pass"]
    static let at = ["--at", Workplace.now]

    struct Made: Sendable {
        let leaked: String
        let new: String
        let backup: Data
        let place: PlaceSnapshot
    }

    /// ```
    /// old/            a copy of the folder before the backup
    /// backup          seq 2
    /// then            the leaked key is revoked (2 lines), the policy is changed: seq 4
    /// ```
    static let made = Result {
        let place = try Workplace()
        try place.write(Data("a long winter".utf8), to: "backup-pass")
        let leaked = try place.create(path, "sender")
        _ = try place.shell("cp -a Keys/app old")
        try place.succeed("keys", "policy", path, "--keep", "3")
        let output = try place.run(["keys", "backup", path, "--to", "backup"] + sealing + at)
        try #require(output.isSuccess, "\(output)")
        try place.succeed("keys", "revoke", path, leaked, "--yes")
        try place.succeed("keys", "policy", path, "--keep", "4")
        let new = try #require(try place.keys(path, at: Workplace.now).first { $0.state == "primary" }).kid
        return Made(leaked: leaked, new: new, backup: try place.read("backup"), place: try PlaceSnapshot(place))
    }

    static func restore(_ options: [String] = []) -> [String] {
        ["keys", "restore", path, "--from", "backup"] + sealing + at + options
    }

    /// The states of the keys and the intact files after a restoration of the backup beside the log.
    static func expectRepeated(_ place: Workplace, _ made: Made, _ comment: Comment) throws {
        let keys = try place.keys(path, at: Workplace.now)
        #expect(keys.first { $0.kid == made.leaked }?.state == "revoked", comment)
        let primary = try #require(keys.first { $0.state == "primary" }, comment)
        #expect(primary.kid != made.leaked && primary.kid != made.new, comment)
        #expect(try StoredFile(path, in: place).sequence > 4, comment)
        let verified = try place.run("keys", "verify", path, "--at", Workplace.now)
        #expect(verified.exit == 0 && !verified.text.contains("mended"), comment)
        let log = String(decoding: try place.read("\(path)/audit.jsonl"), as: UTF8.self).split(separator: "\n")
        #expect(log.count == 8, comment)
        #expect(log[5].contains(#""what":"restored""#) && log[6].contains(#""what":"revoked""#), comment)
    }

    static let disasters = [
        "rm Keys/app/keyset.json", "echo damaged > Keys/app/keyset.json",
        "rm Keys/app/keyset.json Keys/app/public.jwks.json",
        "cp -p old/keyset.json Keys/app/keyset.json", "cp -p old/keyset.json old/public.jwks.json Keys/app/",
    ]

    @Test(
        "with the log of today, the backup is refused without --back-in-time, and with it the revocation is repeated",
        arguments: disasters)
    func disaster(_ command: String) throws {
        let made = try Self.made.get()
        let place = try made.place.place()
        #expect(try place.shell(command).isSuccess)
        let before = try place.contents(of: Self.path)
        let refused = try place.run(Self.restore())
        expectRefusal(refused, 75, saying: "Changes that would be lost: added \(made.new)")
        #expect(refused.stderr.contains("Changes that would be repeated: revoked \(made.leaked)"), "\(refused)")
        let dry = try place.run(Self.restore(["--back-in-time", "--dry-run"]))
        #expect(dry.exit == 0 && dry.text.contains("would be restored"), "\(dry)")
        #expect(try place.contents(of: Self.path) == before)

        let output = try place.run(Self.restore(["--back-in-time"]))
        #expect(output.exit == 0 && output.text.contains("revoked \(made.leaked)"), "\(output)")
        try Self.expectRepeated(place, made, "\(command)")
        let saved = try place.names(in: Self.path).filter { $0.hasPrefix("keyset.replaced-") }
        #expect(try saved.map { try place.read("\(Self.path)/\($0)") } == [before["keyset.json"]].compactMap(\.self))
        #expect(try saved.allSatisfy { try place.mode(of: "\(Self.path)/\($0)") == 0o600 })
        let doctor = try place.run("keys", "doctor", Self.path, "--at", Workplace.now)
        #expect(doctor.exit == 0 && doctor.text.contains("keys restore") == !saved.isEmpty, "\(doctor)")
    }

    @Test("the line that rotate prints for a damaged keyset restores it, and doctor and verify print the line once")
    func damaged() throws {
        let made = try Self.made.get()
        let place = try made.place.place()
        _ = try place.shell("sed -i 's/\"seq\": 4/\"seq\": 3/' Keys/app/keyset.json")
        let refused = try place.run(["rotate", Self.path] + Self.at)
        expectRefusal(refused, 65, saying: "Keys/app/keyset.json doesn't match its digest")
        let line = try #require(refused.stderr.firstMatch(of: /pushcrypt keys restore --from FILE Keys\/app/)?.0)
        for check in ["doctor", "verify"] {
            let found = try place.run(["keys", check, Self.path] + Self.at)
            #expect(found.text.split(separator: line).count == 2, "\(found)")
        }
        let arguments = line.replacing("FILE", with: "backup").split(separator: " ").dropFirst().map(String.init)
        let output = try place.run(arguments + ["--back-in-time"] + Self.sealing + Self.at)
        #expect(output.exit == 0 && output.text.contains("restored as seq"), "\(output)")
        _ = try place.shell("sed -i 's/\"at\": \"2/\"at\": \"1/' backup")
        expectRefusal(
            try place.run(Self.restore()), 65,
            saying: "backup doesn't match its digest: it is damaged, or was edited by hand. Use another copy of it")
    }

    @Test("a dry run names no id and no head that is never made")
    func dryRun() throws {
        let made = try Self.made.get()
        let place = try made.place.place()
        let command = Self.restore(["--back-in-time", "--dry-run"])
        let output = try place.run(command)
        #expect(output.text.contains("revoked \(made.leaked)"), "\(output)")
        #expect(output.text.contains("added a new key: seals at once"), "\(output)")
        let json = try place.run(command + ["--json"]).object()
        let done = try #require(json["done"] as? [[String: Any]])
        #expect(done.map { $0["what"] as? String } == ["restored", "revoked", "added"])
        #expect(done.map { $0["kid"] as? String } == [nil, made.leaked, nil])
        #expect(json["head"] == nil && json["seq"] as? Int == 6)
        _ = try place.shell("rm Keys/app/keyset.json")
        let restored = try place.run(Self.restore(["--back-in-time", "--json"])).object()
        #expect((restored["done"] as? [[String: Any]])?.last?["kid"] is String && restored["head"] is String)
        let idle = try place.run(["keys", "restore", Self.path, "--dry-run", "--json"] + Self.at).object()
        #expect(idle["head"] is String)
    }

    @Test("a keyset.json that was restored by other means is corrected without a backup")
    func inPlace() throws {
        let made = try Self.made.get()
        let place = try made.place.place()
        #expect(try place.shell("cp -p old/keyset.json Keys/app/").isSuccess)
        expectRefusal(try place.run(["keys", "restore", Self.path] + Self.at), 75, saying: "add --back-in-time")
        let output = try place.run(["keys", "restore", Self.path, "--back-in-time", "--json"] + Self.at)
        #expect(output.exit == 0, "\(output)")
        #expect(try output.object()["seq"] as? Int == StoredFile(Self.path, in: place).sequence)
        try Self.expectRepeated(place, made, "\(output)")
        #expect(
            try place.run(["keys", "restore", Self.path] + Self.at).text == "Keys/app: nothing to restore, seq 6\n")
    }

    @Test("a newer keyset is not replaced without --back-in-time, and the same one needs nothing")
    func newer() throws {
        let made = try Self.made.get()
        let place = try made.place.place()
        let before = try place.contents(of: Self.path)
        expectRefusal(try place.run(Self.restore()), 75, saying: "older than the audit log")
        #expect(try place.contents(of: Self.path) == before)
        let backup = try place.run(["keys", "backup", Self.path, "--to", "new"] + Self.sealing + Self.at)
        try #require(backup.isSuccess)
        let output = try place.run(["keys", "restore", "--from", "new"] + Self.sealing + Self.at)
        #expect(output.exit == 0 && output.text == "Keys/app: nothing to restore, seq 4\n", "\(output)")
        #expect(try place.contents(of: Self.path) == before)
    }

    @Test("a whole folder that is older than the backup gets the backup's keys and the backup's log")
    func olderFolder() throws {
        let place = try Self.made.get().place.place()
        #expect(try place.shell("rm -r Keys/app && cp -a old Keys/app").isSuccess)
        let output = try place.run(Self.restore())
        #expect(output.exit == 0, "\(output)")
        let log = String(decoding: try place.read("\(Self.path)/audit.jsonl"), as: UTF8.self).split(separator: "\n")
        #expect(log.count == 4 && log[2].contains(#""what":"logLost""#) && log[3].contains(#""what":"restored""#))
        #expect(try place.run("keys", "verify", Self.path, "--at", Workplace.now).exit == 0)
    }

    @Test("another keyset of the same name is refused even with --back-in-time")
    func otherHistory() throws {
        let place = try Self.made.get().place.place()
        _ = try place.shell("rm -r Keys/app")
        try place.create(Self.path, "sender")
        try place.succeed("keys", "policy", Self.path, "--keep", "5")
        let before = try place.contents(of: Self.path)
        expectRefusal(try place.run(Self.restore(["--back-in-time"])), 65, saying: "have different histories")
        #expect(try place.contents(of: Self.path) == before)
    }

    @Test(
        "after an older backup was restored and the keyset changed, a newer backup is refused with that cause and a line that works",
        arguments: [[path], []])
    func olderBackupRestored(_ paths: [String]) throws {
        let place = try Workplace()
        let secret = ["--passphrase-file", "passphrase"]
        try place.createEncrypted(Self.path, .sender)
        try place.succeed("keys", "backup", Self.path, "--to", "old")
        try place.succeed("keys", "policy", Self.path, "--keep", "3", secret[0], secret[1])
        try place.succeed("keys", "backup", Self.path, "--to", "new backup")
        _ = try place.shell("rm -r Keys/app")
        try place.succeed("keys", "restore", "--from", "old", secret[0], secret[1])
        try place.succeed("keys", "policy", Self.path, "--keep", "4", secret[0], secret[1])
        let refused = try place.run(["keys", "restore", "--from", "new backup"] + paths + secret + Self.at)
        expectRefusal(refused, 65, saying: "an older backup was restored here, and the keyset was changed since")
        let line = try #require(
            refused.stderr.firstMatch(of: /pushcrypt (keys restore --from 'new backup' .*file passphrase)/))
        let arguments = line.1.replacing("'new backup'", with: "FILE").split(separator: " ")
            .map { $0 == "FILE" ? "new backup" : String($0) }
        let output = try place.run(arguments + Self.at)
        #expect(output.exit == 0 && output.text.contains("Restored/app: restored as seq"), "\(output)")
        #expect(try place.run("keys", "log", "Restored/app", "--verify").exit == 0)
    }

    @Test("a key that the log destroys is erased again, and another key seals if it was the primary")
    func destroyed() throws {
        let place = try Workplace()
        let first = try place.create("Keys/fleet", "shared")
        let copy = try place.read("Keys/fleet/keyset.json")
        try place.succeed("keys", "revoke", "Keys/fleet", first, "--yes")
        try place.succeed("keys", "destroy", "Keys/fleet", first, "--force")
        try place.write(copy, to: "Keys/fleet/keyset.json")
        let output = try place.run(["keys", "restore", "Keys/fleet", "--back-in-time"] + Self.at)
        #expect(output.exit == 0, "\(output)")
        #expect(try place.states("Keys/fleet", at: Workplace.now).sorted() == ["destroyed", "primary"])
        #expect(try place.secrets(in: "Keys/fleet/keyset.json").count == 1)
        #expect(try place.run("keys", "verify", "Keys/fleet", "--at", Workplace.now).exit == 0)
    }

    @Test("seq rises above one that keys policy --publish-seq gave after the backup")
    func raisedSequence() throws {
        let place = try Workplace()
        try place.create(Self.path, "sender")
        try place.succeed("keys", "policy", Self.path, "--publish-topic", "com.example.app")
        let copy = try place.read("\(Self.path)/keyset.json")
        try place.succeed("keys", "policy", Self.path, "--publish-seq", "42")
        try place.write(copy, to: "\(Self.path)/keyset.json")
        _ = try place.shell("rm Keys/app/public.jwks.json")
        let output = try place.run(["keys", "restore", Self.path, "--back-in-time"] + Self.at)
        #expect(output.exit == 0, "\(output)")
        #expect(try StoredFile(Self.path, in: place).sequence == 43)
    }

    @Test(
        "keys restore refuses bad usage",
        arguments: [
            [], ["--into", "Other", path], ["--into", "Other"], ["--backup-passphrase-file", "backup-pass", path],
            ["--from", "backup", "--into", "Other", path],
        ])
    func usage(_ options: [String]) throws {
        expectUsageError(try Self.made.get().place.place().run(["keys", "restore"] + options))
    }

    @Test("a keyset that isn't in the backup, and a backup that doesn't exist, exit 66")
    func missing() throws {
        let place = try Self.made.get().place.place()
        let restore = ["keys", "restore", "--from"]
        expectRefusal(
            try place.run(restore + ["backup", "Keys/web"] + Self.sealing), 66,
            saying: "no keyset web; it has: Keys/app")
        expectRefusal(try place.run(restore + ["none"]), 66, saying: "none")
        expectRefusal(try place.run("keys", "restore", "Keys/none"), 66, saying: "not a keyset")
    }
}

/// `kill -9` at every step of a restoration.
@Suite("keys restore, killed", .ownThreads, .enabled(if: FaultPoints.exist, FaultPoints.missing))
struct KilledRestoreTests {
    private static let writing = ["created", "written", "synced", "renamed"]
    private static let points =
        ["locked"] + writing.flatMap { ["restore-save-\($0)", "keyset-\($0)", "public-\($0)"] } + [
            "published", "logged",
        ]
    private static let committed = ["keyset-renamed", "published", "logged"] + writing.map { "public-\($0)" }

    @Test("the same command or the next change completes a killed restoration, once", arguments: points)
    func besideLog(_ point: String) throws {
        let made = try RestoreTests.made.get()
        let place = try made.place.place()
        _ = try place.shell("cp -p old/keyset.json Keys/app/")
        let command = RestoreTests.restore(["--back-in-time"])
        #expect(try place.run(command, dyingAt: point).signal == SIGKILL)
        let isCommitted = Self.committed.contains(point)
        // Either the copy is still refused, or it is replaced.
        #expect(
            try place.run("rotate", RestoreTests.path, "--dry-run", "--at", Workplace.now).exit
                == (isCommitted ? 0 : 75), "\(point)")
        let again = isCommitted ? ["keys", "verify", RestoreTests.path, "--at", Workplace.now] : command
        let output = try place.run(again)
        #expect(output.exit == 0, "\(point): \(output)")
        try RestoreTests.expectRepeated(place, made, "\(point)")
        #expect(try place.names(in: RestoreTests.path).count == 4, "\(point)")
    }

    @Test(
        "a killed restoration of a longer log leaves a keyset that is refused until the command is repeated",
        arguments: writing)
    func longerLog(_ step: String) throws {
        let place = try RestoreTests.made.get().place.place()
        _ = try place.shell("rm -r Keys/app && cp -a old Keys/app")
        #expect(try place.run(RestoreTests.restore(), dyingAt: "restore-log-\(step)").signal == SIGKILL)
        let use = try place.run("rotate", RestoreTests.path, "--dry-run", "--at", Workplace.now)
        #expect(use.exit == (step == "renamed" ? 75 : 0), "\(use)")
        let output = try place.run(RestoreTests.restore())
        #expect(output.exit == 0, "\(output)")
        // The copy's lines, "restored", and that the changes after the copy are unknown.
        #expect(try StoredFile(RestoreTests.path, in: place).logCount == 4)
        #expect(output.stderr.contains("until you confirm it"), "\(output)")
        let doctor = try place.run("keys", "doctor", "Keys", "--at", Workplace.now)
        #expect(doctor.text.contains("without the log of what came before"), "\(doctor)")
        #expect(try place.run("keys", "verify", RestoreTests.path, "--at", Workplace.now).exit == 0)
    }

    @Test(
        "a killed restoration of a lost folder leaves no keyset",
        arguments: ["restore-log-synced", "keyset-renamed", "create-written"])
    func lostFolder(_ point: String) throws {
        let place = try RestoreTests.made.get().place.place()
        _ = try place.shell("rm -r Keys/app")
        #expect(try place.run(RestoreTests.restore(), dyingAt: point).signal == SIGKILL)
        #expect(!place.has(RestoreTests.path))
        #expect(try place.run(RestoreTests.restore()).exit == 0)
        #expect(try place.names(in: "Keys") == ["app"])
    }
}
