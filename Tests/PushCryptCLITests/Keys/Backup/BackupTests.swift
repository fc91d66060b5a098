import Foundation
import PushCryptCore
import PushCryptTestSupport
import Testing

@Suite("keys backup", .ownThreads)
struct BackupTests {
    private static let sealing = ["--backup-passphrase-file", "backup-pass", "--at", Workplace.now]

    private func plainPlace() throws -> Workplace {
        let place = try Workplace()
        try place.write(Data("a long winter".utf8), to: "backup-pass")
        try place.create("Keys/app", "sender")
        try place.create("Keys/fleet", "shared")
        return place
    }

    @Test("--all writes one private file without key material, which restores every keyset in an empty place")
    func roundTrip() throws {
        let place = try plainPlace()
        try place.succeed("keys", "add", "Keys/app")
        let secrets = try ["app", "fleet"].flatMap { try place.secrets(in: "Keys/\($0)/keyset.json") }
        let made = try place.run(["keys", "backup", "--all", "--to", "backup", "--json"] + Self.sealing)
        #expect(made.exit == 0, "\(made)")
        let keysets = try #require(try made.object()["keysets"] as? [[String: Any]])
        #expect(keysets.map { $0["keyset"] as? String } == ["app", "fleet"])
        #expect(try place.mode(of: "backup") == 0o600)
        let text = String(decoding: try place.read("backup"), as: UTF8.self)
        #expect(!secrets.isEmpty && secrets.allSatisfy { !text.contains($0) })

        let restored = try place.run(["keys", "restore", "--from", "backup", "--into", "Other"] + Self.sealing)
        #expect(restored.exit == 0, "\(restored)")
        #expect(try ["app", "fleet"].flatMap { try place.secrets(in: "Other/\($0)/keyset.json") } == secrets)
        for name in ["app", "fleet"] {
            let old = try StoredFile("Keys/\(name)", in: place)
            let new = try StoredFile("Other/\(name)", in: place)
            #expect(new.sequence == old.sequence + 1 && new.logCount == old.logCount + 2)
            let verified = try place.run("keys", "verify", "Other/\(name)", "--at", Workplace.now)
            #expect(verified.exit == 0 && !verified.text.contains("mended"), "\(verified)")
        }
    }

    @Test("an encrypted keyset needs no secret for its backup, and its own secret to be restored")
    func encrypted() throws {
        let place = try Workplace()
        try place.createEncrypted("Keys/app", .sender)
        let made = try place.run("keys", "backup", "Keys/app", "--to", "backup", "--at", Workplace.now)
        #expect(made.exit == 0, "\(made)")
        let restore = ["keys", "restore", "--from", "backup", "--into", "Other", "--at", Workplace.now]
        expectRefusal(try place.run(restore), 64, saying: "is encrypted: use --passphrase-file")
        try place.write(Data("another horse".utf8), to: "wrong")
        expectRefusal(try place.run(restore + ["--passphrase-file", "wrong"]), 77, saying: "the passphrase is wrong")
        #expect(!place.has("Other/app"))
        let restored = try place.run(restore + ["--passphrase-file", "passphrase"])
        #expect(restored.exit == 0, "\(restored)")
        #expect(
            try place.run("keys", "verify", "Other/app", "--passphrase-file", "passphrase", "--at", Workplace.now).exit
                == 0)
    }

    @Test("a backup of senders and publishers with two secrets: a note names the command that restores the publishers")
    func twoSecrets() throws {
        let signed = try SignedSetPlace(secrets: ("red horse", "blue horse"))
        let place = signed.place
        try place.succeed("keys", "backup", "--all", "--to", "full.backup")
        let output = try place.run(
            "keys", "restore", "--from", "full.backup", "--into", "Re stored", "--passphrase-file", "sender.pass",
            "--at", Workplace.now)
        #expect(output.exit == 0 && place.has("Re stored/senders") && !place.has("Re stored/publisher"), "\(output)")
        let match = output.stderr.firstMatch(of: /own: `pushcrypt (keys restore --from [^`]*)`/)
        let advised = try #require(match?.1, "\(output)")
        let restored = try place.shell(
            "\"$PUSHCRYPT\" \(advised) --passphrase-file publisher.pass --at \(Workplace.now)")
        #expect(restored.exit == 0 && place.has("Publisher/publisher"), "\(restored)")
    }

    @Test("a publisher with a secret of its own beside senders: the refusal names the command that restores it")
    func publisherBesideSenders() throws {
        let place = try SignedSetPlace(secrets: ("red horse", "blue horse")).place
        try place.succeed("keys", "backup", "--all", "--to", "full.backup")
        _ = try place.shell("rm Keys/*/keyset.json")
        let output = try place.run(
            "keys", "restore", "--from", "full.backup", "--passphrase-file", "sender.pass", "--at", Workplace.now)
        #expect(output.exit == 77 && place.has("Keys/senders/keyset.json"), "\(output)")
        #expect(
            output.stderr.contains("in a keystore of its own: `pushcrypt keys restore --from full.backup"), "\(output)")
    }

    @Test("a keyset's secret authenticates the keysets, and refuses plain ones")
    func authenticated() throws {
        let place = try plainPlace()
        try place.createEncrypted("Keys/ios", .recipient)
        let command = ["keys", "backup", "--to", "backup", "--passphrase-file", "passphrase"] + Self.sealing
        expectRefusal(try place.run(command + ["Keys/app"]), 65, saying: "not encrypted")
        try place.edit("Keys/ios/keyset.json") { $0.replacing("P90D", with: "P36000D") }
        expectRefusal(try place.run(command + ["Keys/ios"]), 65, saying: "damaged or was changed")
        #expect(!place.has("backup"))
    }

    static let refusals: [(options: String, exit: Int32, words: String)] = [
        ("Keys/app --to backup", 64, "the backup needs a secret of its own"),
        ("--to backup", 64, "Name a keyset"), ("Keys/none --to backup", 66, "not a keyset"),
        ("Keys/app --to backup-pass SECRET", 73, "backup-pass exists already"),
        ("Keys/app --to none/backup SECRET", 73, "none/backup"),
        ("Keys/app Keys/copies/app --to backup SECRET", 65, "two keysets"),
        ("--all None --to backup SECRET", 66, "None"), ("Keys/app", 64, "--to"),
        ("Keys/app --to backup SECRET --backup-wrap-command cat", 64, "Use only one"),
        ("Keys/app --to backup --backup-wrap-command cat", 65, "failed to wrap"),
        ("Keys/old --to backup SECRET", 75, "earlier copy"),
        ("Keys/app --to Keys/app/backup SECRET", 64, "Keys/app is the folder of a keyset: a backup in it is lost"),
    ]

    @Test("keys backup refuses bad usage with its status and writes no file", arguments: refusals)
    func refused(_ options: String, _ exit: Int32, _ words: String) throws {
        let place = try plainPlace()
        try place.create("Keys/old", "sender")
        let copy = try place.read("Keys/old/keyset.json")
        try place.succeed("keys", "policy", "Keys/old", "--keep", "3")
        try place.write(copy, to: "Keys/old/keyset.json")
        _ = try place.shell("mkdir Keys/copies && cp -a Keys/app Keys/copies/")
        let arguments = options.replacing("SECRET", with: "--backup-passphrase-file backup-pass").split(separator: " ")
            .map(String.init)
        let output = try place.run(["keys", "backup"] + arguments)
        #expect(output.exit == exit && output.stderr.contains(words), "\(output)")
        #expect(try place.names(in: ".").allSatisfy { ["Keys", "backup-pass"].contains($0) })
    }

    @Test(
        "a damaged or foreign backup is refused, and nothing is written",
        arguments: ["flip", "cut", "extend", "keyset", "name", "list", "later version"])
    func damaged(_ damage: String) throws {
        let place = try Workplace()
        try place.createEncrypted("Keys/app", .sender)
        try place.succeed("keys", "backup", "Keys/app", "--to", "backup")
        var (text, words) = (String(decoding: try place.read("backup"), as: UTF8.self), "backup")
        func withoutDigest() { text = text.replacing(/,\n  "digest": "[^"]*"/, with: "") }
        switch damage {
        case "flip": text = text.replacing("\"count\": 1", with: "\"count\": 2")
        case "cut": text = String(text.dropLast(10))
        case "extend": text += "x"
        case "keyset": text = String(decoding: try place.read("Keys/app/keyset.json"), as: UTF8.self)
        case "later version":
            withoutDigest()
            text = text.replacing("{\"v\": 1, \"at\"", with: "{\"v\": 2, \"at\"")
            words = "the backup has version 2, and this pushcrypt reads version 1: use a newer pushcrypt"
        case "name":
            withoutDigest()
            text = text.replacing("\"name\": \"app\"", with: "\"name\": \"../app\"")
        default:
            withoutDigest()
            text = text.replacing("\"seq\": 1", with: "\"seq\": 9")
        }
        try place.write(Data(text.utf8), to: "backup")
        let output = try place.run(
            "keys", "restore", "--from", "backup", "--into", "Other/sub", "--passphrase-file", "passphrase", "--at",
            Workplace.now)
        expectRefusal(output, 65, saying: words)
        #expect(!place.has("Other"))
    }

    @Test("a secret of the backup refuses a backup that isn't sealed, which could replace the sealed one")
    func unsealed() throws {
        let place = try plainPlace()
        // The backup of an encrypted keyset needs no secret of its own.
        try place.createEncrypted("Keys/own", .sender)
        try place.succeed("keys", "backup", "Keys/own", "--to", "backup")
        let restore = ["keys", "restore", "--from", "backup", "--into", "Other", "--passphrase-file", "passphrase"]
        expectRefusal(
            try place.run(restore + Self.sealing), 65,
            saying: "backup is not sealed, though a secret of the backup was given")
        #expect(!place.has("Other"))
        #expect(try place.run(restore + ["--at", Workplace.now]).exit == 0)
    }

    @Test("a sealed backup is refused without its secret, with another one, and after a change")
    func sealed() throws {
        let place = try plainPlace()
        let made = try place.run(["keys", "backup", "--all", "--to", "backup"] + Self.sealing)
        try #require(made.isSuccess, "\(made)")
        let restore = ["keys", "restore", "--from", "backup", "--into", "Other"]
        expectRefusal(try place.run(restore), 64, saying: "backup is sealed: use --backup-passphrase-file")
        try place.write(Data("a short summer".utf8), to: "wrong")
        expectRefusal(
            try place.run(restore + ["--backup-passphrase-file", "wrong"]), 77, saying: "the passphrase is wrong")
        var text = String(decoding: try place.read("backup"), as: UTF8.self)
        text = text.replacing(/,\n  "digest": "[^"]*"/, with: "").replacing("\"seq\": 1", with: "\"seq\": 2")
        try place.write(Data(text.utf8), to: "backup")
        expectRefusal(try place.run(restore + Self.sealing.prefix(2)), 65, saying: "damaged or was changed")
        #expect(!place.has("Other"))
    }

    @Test(
        "a killed keys backup leaves no file of that name", .enabled(if: FaultPoints.exist, FaultPoints.missing),
        arguments: ["backup-created", "backup-written"])
    func killed(_ point: String) throws {
        let place = try plainPlace()
        let command = ["keys", "backup", "--all", "--to", "backup"] + Self.sealing
        #expect(try place.run(command, dyingAt: point).signal == SIGKILL)
        #expect(!place.has("backup"))
        #expect(try place.run(command).exit == 0)
    }
}
