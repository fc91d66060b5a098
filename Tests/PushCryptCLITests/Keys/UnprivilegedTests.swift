import Foundation
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Root can write everywhere. As root, these tests run the binary as user 65534.
@Suite(
    "folders and files without permission", .ownThreads, .enabled(if: Unprivileged.isAvailable, Unprivileged.missing))
struct UnprivilegedTests {
    @Test("keys create in a folder without permission exits 77 and leaves no file", arguments: ["ios", "new/ios"])
    func create(_ name: String) throws {
        let place = try makePlace()
        let output = try place.shell(
            "\(Unprivileged.prefix) \"$PUSHCRYPT\" keys create locked/\(name) --kind shared --insecure-plaintext")
        expectRefusal(output, 77, saying: "Permission denied")
        #expect(try place.names(in: "locked").isEmpty)
    }

    static let writers = [
        "keys create FOLDER/ios --kind shared --insecure-plaintext",
        "keys backup Keys/app --to FOLDER/backup --backup-passphrase-file pass",
        "blob seal --from readable --type image/png --reference ref.json --output FOLDER/blob",
        "blob seal --from readable --type image/png --reference FOLDER/ref.json --output blob",
        "keys list Keys --picture FOLDER/picture.svg",
    ]

    @Test(
        "where a user can't create a file, the error names the owner of the folder, or the chmod of an own folder",
        arguments: writers)
    func creating(_ command: String) throws {
        let place = try makeKeystore()
        try place.write(Data("content".utf8), to: "readable", mode: 0o644)
        try place.setMode(0o555, of: "locked")
        let own = try runUnprivileged(command.replacing("FOLDER", with: "locked"), place)
        #expect(own.exit == 77, "\(own)")
        #expect(own.stderr.contains("Permission denied for user "), "\(own)")
        #expect(own.stderr.hasSuffix("; correct it with: chmod u+wx locked\n"), "\(own)")
        #expect(try place.names(in: "locked").isEmpty)
        guard geteuid() == 0 else { return }
        _ = try place.shell("chown 0 locked")
        let output = try runUnprivileged(command.replacing("FOLDER", with: "locked"), place)
        #expect(output.exit == 77, "\(output)")
        #expect(
            output.stderr.hasSuffix("Permission denied for user 65534; locked belongs to user 0: work as that user\n"),
            "\(output)")
    }

    @Test("a log that its owner may not write is named with its chmod, after the keyset was changed")
    func readOnlyLog() throws {
        let place = try makeKeystore()
        try place.setMode(0o400, of: "Keys/app/audit.jsonl")
        let output = try runUnprivileged("keys policy Keys/app --keep 3", place)
        #expect(output.exit == 77, "\(output)")
        #expect(output.stderr.hasSuffix("; correct it with: chmod u+w Keys/app/audit.jsonl\n"), "\(output)")
    }

    @Test("keys list of an unreadable file exits 77")
    func read() throws {
        let place = try makePlace()
        try place.write(Data("{}".utf8), to: "unreadable.json", mode: 0o000)
        let output = try place.shell("\(Unprivileged.prefix) \"$PUSHCRYPT\" keys list unreadable.json")
        expectRefusal(output, 77, saying: "unreadable.json")
    }

    static let commands: [(command: String, exit: Int32)] = [
        ("rotate --all Keys", 77), ("rotate Keys/app Keys/senders", 77), ("keys list Keys", 77),
        ("keys list --json Keys", 77), ("keys backup --all Keys --to backup --backup-passphrase-file pass", 77),
        ("keys doctor Keys", 65), ("status Keys", 2), ("keys verify Keys/senders", 77),
        ("keys policy Keys/senders", 77),
        ("seal --to Keys/senders --bare --topic com.example.app", 77),
    ]

    @Test("a keyset folder that can't be read is named by every command that would use it", arguments: commands)
    func unreadableKeyset(_ command: String, _ exit: Int32) throws {
        let place = try makeKeystore()
        try place.setMode(0o000, of: "Keys/senders")
        defer { try? place.setMode(0o700, of: "Keys/senders") }
        let output = try runUnprivileged(command, place)
        #expect(output.exit == exit, "\(output)")
        #expect((output.text + output.stderr).contains("can't read Keys/senders: Permission denied"), "\(output)")
        #expect(!place.has("backup"))
        if command.contains("--all") || command.hasPrefix("keys list") {
            #expect((output.text.contains("Keys/app")) == !command.contains("backup"), "\(output)")
        }
    }

    static let readers = [
        "rotate --all Keys", "keys list Keys", "keys backup --all Keys --to backup --backup-passphrase-file pass",
    ]
    static let modes: [(mode: Int, path: String, command: String)] = [
        (0o000, "Keys/senders", "chmod 700 Keys/senders"), (0o200, "Keys/senders", "chmod 700 Keys/senders"),
        (0o000, "Keys/senders/keyset.json", "chmod 600 Keys/senders/keyset.json"),
        (0o000, "Keys/senders/audit.jsonl", "chmod 600 Keys/senders/audit.jsonl"),
    ]

    @Test(
        "the owner of a keyset who can't read it learns the chmod from every command and from keys doctor",
        arguments: modes)
    func ownMode(_ test: (mode: Int, path: String, command: String)) throws {
        let place = try makeKeystore()
        for reader in Self.readers + ["keys doctor Keys"] {
            try place.setMode(test.mode, of: test.path)
            let output = try runUnprivileged(reader, place)
            #expect((output.text + output.stderr).contains(test.command), "\(output)")
            #expect(!output.text.contains("run this as"), "\(output)")
            #expect(try place.shell(test.command).isSuccess)
        }
        #expect(try runUnprivileged("keys list Keys", place).isSuccess)
    }

    @Test(
        "for a file of root in the keyset of another user, every command and keys doctor print the chown",
        .enabled(if: geteuid() == 0, "only root can give files away"), arguments: readers + ["keys doctor Keys"])
    func rootsFile(_ command: String) throws {
        let place = try makeKeystore()
        _ = try place.shell("chown 0 Keys/senders/keyset.json Keys/senders/audit.jsonl")
        let output = try runUnprivileged(command, place)
        let advised = "chown -R 65534 Keys/senders"
        #expect((output.text + output.stderr).contains(advised), "\(output)")
        #expect((output.text + output.stderr).contains("Keys/senders/keyset.json belongs to user 0"), "\(output)")
        #expect(try place.shell(advised).isSuccess)
        #expect(try runUnprivileged("rotate --all Keys", place).exit == 0)
    }

    @Test(
        "a user who looks at a keyset of root is advised to work as root, and not to take the keyset",
        .enabled(if: geteuid() == 0, "only root can give files away"),
        arguments: readers + ["keys doctor Keys", "status Keys"])
    func rootsKeyset(_ command: String) throws {
        let place = try makeKeystore()
        for (mode, path) in [(0o700, "Keys/senders"), (0o755, "Keys/senders/keyset.json")] {
            _ = try place.shell("chown -R 0 Keys/senders")
            try place.setMode(mode, of: "Keys/senders")
            let output = try runUnprivileged(command, place)
            let text = output.text + output.stderr
            #expect(text.contains("\(path) belongs to user 0: work as that user"), "\(output)")
            #expect(!text.contains("chown"), "\(output)")
            guard command.hasPrefix("status") || command.hasPrefix("keys doctor") else { continue }
            #expect(output.text.contains("\n         work as user 0\n"), "\(output)")
        }
    }

    @Test(
        "for a keystore's folder of root, the next step is to work as root",
        .enabled(if: geteuid() == 0, "only root can give files away"))
    func rootsFolder() throws {
        let place = try makeKeystore()
        _ = try place.shell("mkdir -m 700 theirs && mv Keys theirs/")
        let output = try runUnprivileged("keys list theirs/Keys/app", place)
        expectRefusal(
            output, 77, saying: "Permission denied for user 65534; theirs belongs to user 0: work as that user")
        #expect(!output.stderr.contains("chown"), "\(output)")
    }

    @Test("lost+found at the root of a file system, which only root can read, is no keyset") func lostAndFound() throws
    {
        let place = try makeKeystore()
        try place.makeFolder("Keys/lost+found", mode: 0)
        defer { try? place.setMode(0o700, of: "Keys/lost+found") }
        #expect(try runUnprivileged("rotate --all Keys", place).exit == 0)
    }

    @Test(
        "a keystore that can't be read is refused with 77, and not called empty",
        arguments: ["rotate --all Keys", "rotate Keys/app", "keys list Keys", "keys list Keys/app", "keys doctor Keys"])
    func unreadableKeystore(_ command: String) throws {
        let place = try makeKeystore()
        for mode in [0o000, 0o600] {
            try place.setMode(mode, of: "Keys")
            let output = try runUnprivileged(command, place)
            try place.setMode(0o700, of: "Keys")
            expectRefusal(output, 77, saying: "can't read Keys")
            #expect(output.stderr.contains("Permission denied"), "\(output)")
        }
    }

    private func makeKeystore() throws -> Workplace {
        let place = try makePlace()
        try place.create("Keys/app", "recipient")
        try place.create("Keys/senders", "sender")
        try place.write(Data("a long winter".utf8), to: "pass")
        try place.giveAway()
        return place
    }

    private func runUnprivileged(_ command: String, _ place: Workplace) throws -> Output {
        let time = command.hasPrefix("blob") ? "" : "--at \(Workplace.now)"
        return try place.shell("\(Unprivileged.prefix) \"$PUSHCRYPT\" \(command) \(time) </dev/null")
    }

    private func makePlace() throws -> Workplace {
        let place = try Workplace()
        try place.setMode(0o755, of: ".")
        try place.makeFolder("locked", mode: 0o555)
        return place
    }
}

enum Unprivileged {
    static let missing: Comment = "run by root without setpriv, which runs the binary as another user"

    static let prefix = geteuid() == 0 ? "setpriv --reuid=65534 --regid=65534 --clear-groups" : ""

    static let isAvailable = (try? CLI.shell("\(prefix) \"$PUSHCRYPT\" --version"))?.exit == 0
}

extension Workplace {
    /// Gives all files to the user that ``Unprivileged`` runs the binary as.
    func giveAway() throws {
        guard geteuid() == 0 else { return }
        let output = try shell("chown -R 65534:65534 .")
        try #require(output.isSuccess, "\(output)")
    }
}
