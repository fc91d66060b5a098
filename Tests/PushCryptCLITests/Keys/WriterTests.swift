import Foundation
import PushCryptCore
import PushCryptKeysets
import PushCryptKeystore
import PushCryptTestSupport
import Testing

/// The host that changes a keyset. Each command runs as the host that PUSHCRYPT_WRITER names.
@Suite("a keyset's writer", .ownThreads)
struct WriterTests {
    private static let path = "Keys/app"

    private static let made = Result {
        let place = try Workplace()
        let kid = try place.create(path, "sender")
        return (kid: kid, place: try PlaceSnapshot(place))
    }

    private func run(_ command: String, as writer: String, _ place: Workplace) throws -> Output {
        let arguments = command.split(separator: " ").map(String.init) + ["--at", Workplace.now]
        return try CLI.start(arguments, in: place.folder.url, environment: ["PUSHCRYPT_WRITER": writer]).wait()
    }

    private func writer(_ place: Workplace) throws -> String? {
        let member = try Payload.member("pushcrypt", of: try place.read("\(Self.path)/keyset.json")) as? [String: Any]
        return member?["writer"] as? String
    }

    static let changes = [
        "keys add Keys/app", "keys policy Keys/app --keep 3", "keys revoke Keys/app KID --yes",
        "rotate Keys/app --emergency --revoke KID --yes",
    ]

    @Test("a change on another host exits 75 with both names and what to do, and changes nothing", arguments: changes)
    func refused(_ command: String) throws {
        let (kid, snapshot) = try Self.made.get()
        let place = try snapshot.place()
        let before = try place.contents(of: Self.path)
        let output = try run(command.replacing("KID", with: kid), as: "host-b", place)
        #expect(output.exit == 75, "\(output)")
        #expect(output.stderr.contains("Keys/app: tests changes this keyset, and this is host-b"), "\(output)")
        #expect(output.stderr.contains("run: `pushcrypt keys policy Keys/app --writer this`"), "\(output)")
        #expect(try place.contents(of: Self.path) == before)
        let same = try run(command.replacing("KID", with: kid), as: "tests", place)
        #expect(same.exit == 0, "\(same)")
    }

    @Test(
        "a dry run on another host is refused like the change, with 75",
        arguments: ["rotate Keys/app --now --dry-run", "rotate Keys/app --emergency --revoke KID --dry-run"])
    func refusedDryRun(_ command: String) throws {
        let (kid, snapshot) = try Self.made.get()
        let place = try snapshot.place()
        let output = try run(command.replacing("KID", with: kid), as: "host-b", place)
        expectRefusal(output, 75, saying: "Keys/app: tests changes this keyset, and this is host-b")
        #expect(try run(command.replacing("KID", with: kid), as: "tests", place).exit == 10)
    }

    @Test(
        "the command that hands over an encrypted keyset has the given passphrase file, and works as printed",
        arguments: ["keys add Keys/secret", "rotate Keys/secret --now", "rotate Keys/secret --now --dry-run"])
    func pastedWithSecret(_ command: String) throws {
        let place = try Workplace()
        try place.createEncrypted("Keys/secret", .sender)
        let output = try run(command + " --passphrase-file passphrase", as: "host-b", place)
        #expect(output.exit == 75, "\(output)")
        let advised = try #require(output.stderr.firstMatch(of: /run: `pushcrypt (keys policy [^`]*)`/)?.1, "\(output)")
        let script = "PUSHCRYPT_WRITER=host-b \"$PUSHCRYPT\" \(advised) --at \(Workplace.now) </dev/null"
        #expect(try place.shell(script).exit == 0, "\(advised)")
        #expect(try run(command + " --passphrase-file passphrase", as: "host-b", place).exit != 75)
    }

    @Test("keys policy shows the writer in text and JSON, also that of publisher keys")
    func shown() throws {
        let place = try Self.made.get().place.place()
        try place.create("Keys/publisher", "publisher")
        for path in [Self.path, "Keys/publisher"] {
            let command = "keys policy \(path)"
            let text = try run(command, as: "host-b", place).text
            #expect(text.contains("writer        tests       the host that changes the keyset"), "\(text)")
            #expect(try run(command + " --json", as: "host-b", place).object()["writer"] as? String == "tests")
        }
    }

    @Test("the refusal names the folder that was given, quoted for the shell")
    func refusedElsewhere() throws {
        let place = try Self.made.get().place.place()
        try place.makeFolder("a host")
        try place.move(Self.path, to: "a host/copy")
        let output = try CLI.start(
            ["keys", "add", "a host/copy/", "--at", Workplace.now], in: place.folder.url,
            environment: ["PUSHCRYPT_WRITER": "host-b"]
        ).wait()
        expectRefusal(output, 75, saying: "run: `pushcrypt keys policy 'a host/copy' --writer this`")
    }

    @Test(
        "a command that only reads accepts another host",
        arguments: [
            "rotate Keys/app", "rotate Keys/app --dry-run", "keys list Keys/app", "keys policy Keys/app",
            "keys export Keys/app",
        ])
    func reading(_ command: String) throws {
        let place = try Self.made.get().place.place()
        #expect(try run(command, as: "host-b", place).exit == 0)
    }

    @Test("--writer with a name that isn't this host's is confirmed, and without --yes it changes nothing")
    func misspelt() throws {
        let place = try Self.made.get().place.place()
        let output = try run("keys policy Keys/app --writer thsi", as: "tests", place)
        expectRefusal(
            output, 64,
            saying: "from now on only a host named thsi changes this keyset; this is tests. Nothing was changed")
        #expect(try writer(place) == "tests")
    }

    @Test("rotate on another host says whose keyset it is, also if nothing is due")
    func idle() throws {
        let place = try Self.made.get().place.place()
        let output = try run("rotate Keys/app", as: "host-b", place)
        #expect(output.exit == 0, "\(output)")
        #expect(output.stderr.contains("Keys/app: tests changes this keyset, and this is host-b: when a step is due"))
        #expect(!(try run("rotate Keys/app", as: "tests", place).stderr.contains("this is")))
    }

    @Test("--writer this and --writer NAME hand the keyset over, and the log records it")
    func handedOver() throws {
        let place = try Self.made.get().place.place()
        let taken = try run("keys policy Keys/app --writer this", as: "host-b", place)
        #expect(taken.exit == 0 && taken.text == "changed the writer: host-b instead of tests\n", "\(taken)")
        #expect(try run("keys policy Keys/app --keep 4", as: "tests", place).exit == 75)
        #expect(try run("keys policy Keys/app --keep 4", as: "host-b", place).exit == 0)
        #expect(try run("keys policy Keys/app --writer host-c --yes", as: "host-b", place).exit == 0)
        #expect(try writer(place) == "host-c")
        let log = String(decoding: try place.read("\(Self.path)/audit.jsonl"), as: UTF8.self)
        #expect(log.contains(#""what":"writerChanged","detail":"host-b instead of tests""#))
        #expect(try run("keys verify Keys/app", as: "host-b", place).exit == 0)
    }

    @Test("a keyset without a writer is adopted by its first change, which says so once")
    func adopted() throws {
        let place = try Self.made.get().place.place()
        try place.edit("\(Self.path)/keyset.json") { $0.replacing("\n    \"writer\": \"tests\",", with: "") }
        #expect(try writer(place) == nil)
        let doctor = try run("keys doctor Keys/app", as: "host-b", place)
        #expect(doctor.exit == 0 && doctor.text.contains("doesn't record which host changes it"), "\(doctor)")
        let first = try run("keys policy Keys/app --keep 3", as: "host-b", place)
        #expect(first.exit == 0 && first.stderr.contains("from now on only host-b changes this keyset"), "\(first)")
        #expect(try writer(place) == "host-b")
        #expect(try run("keys policy Keys/app --keep 4", as: "host-b", place).stderr.isEmpty)
        let other = try run("keys doctor Keys/app", as: "tests", place)
        #expect(other.text.contains("host-b changes this keyset, and this is tests"), "\(other)")
    }

    private static let fromBackup = "--from backup --backup-passphrase-file backup-pass"

    /// A place with a backup of the keyset.
    private func placeWithBackup() throws -> Workplace {
        let place = try Self.made.get().place.place()
        try place.write(Data("a long winter".utf8), to: "backup-pass")
        let backup = "keys backup Keys/app --to backup --backup-passphrase-file backup-pass"
        try #require(try run(backup, as: "tests", place).exit == 0)
        return place
    }

    @Test(
        "keys restore where no keyset can be read makes this host the writer, and says so on stdout, stderr and in JSON",
        arguments: ["rm -r Keys/app", "echo damaged > Keys/app/keyset.json", "rm Keys/app/keyset.json"])
    func restored(_ disaster: String) throws {
        let place = try placeWithBackup()
        #expect(try place.shell(disaster).isSuccess)
        let restore = "keys restore \(Self.fromBackup)"
        let json = try run(restore + " --dry-run --json", as: "host-b", place)
        #expect(try json.exit == 0 && json.object()["writer"] as? String == "host-b", "\(json)")
        let output = try run(restore, as: "host-b", place)
        #expect(output.exit == 0 && output.text.contains("changed the writer: host-b instead of tests"), "\(output)")
        for stderr in [json.stderr, output.stderr] {
            #expect(stderr.contains("Keys/app: host-b changes the restored keyset from now on, and tests no longer"))
        }
        #expect(try writer(place) == "host-b")
    }

    @Test(
        "keys restore over another host's keyset exits 75 and changes nothing; --writer takes the keyset over",
        arguments: ["", "--dry-run", "--back-in-time"])
    func restoredOverAnotherHost(_ option: String) throws {
        let place = try placeWithBackup()
        // An earlier copy, as after an interrupted copy from the writing host, isn't a damaged keyset.
        let earlier = try place.read("\(Self.path)/keyset.json")
        try #require(try run("keys policy Keys/app --keep 3", as: "tests", place).exit == 0)
        for keyset in [try place.read("\(Self.path)/keyset.json"), earlier] {
            try place.write(keyset, to: "\(Self.path)/keyset.json")
            let before = try place.contents(of: Self.path)
            let output = try run("keys restore \(Self.fromBackup) \(option)", as: "host-b", place)
            expectRefusal(output, 75, saying: "Keys/app: tests changes this keyset, and this is host-b")
            #expect(output.stderr.contains("first stop the other one, then add --writer this"), "\(output)")
            #expect(try place.contents(of: Self.path) == before)
        }
        let command = "keys restore \(Self.fromBackup) --back-in-time --json --writer"
        let taken = try run("\(command) this", as: "host-b", place)
        #expect(try taken.exit == 0 && taken.object()["writer"] as? String == "host-b", "\(taken)")
        #expect(try writer(place) == "host-b")
        let given = try run("\(command) host-c", as: "host-b", place)
        #expect(try given.exit == 0 && writer(place) == "host-c", "\(given)")
    }

    @Test("keys restore --writer hands over a keyset that is as new as the backup")
    func restoredCurrent() throws {
        let place = try placeWithBackup()
        let restore = "keys restore \(Self.fromBackup)"
        #expect(try run(restore, as: "host-b", place).text == "Keys/app: nothing to restore, seq 1\n")
        let taken = try run(restore + " --writer this", as: "host-b", place)
        #expect(try taken.exit == 0 && writer(place) == "host-b", "\(taken)")
        #expect(try run("keys verify Keys/app", as: "host-b", place).exit == 0)
    }

    @Test("keys restore accepts only a writer that a keyset can contain")
    func restoredForInvalidWriter() throws {
        let place = try placeWithBackup()
        let output = try run("keys restore --writer é \(Self.fromBackup)", as: "tests", place)
        expectRefusal(output, 64, saying: "1 to 64 printable ASCII characters")
    }

    @Test(
        "a name that a keyset can't contain is bad usage",
        arguments: [" a", "a ", "é", String(repeating: "a", count: 65)])
    func names(_ name: String) throws {
        let place = try Self.made.get().place.place()
        let output = try place.run(["keys", "policy", Self.path, "--writer", name, "--at", Workplace.now])
        expectRefusal(output, 64, saying: "1 to 64 printable ASCII characters")
        expectRefusal(try run("keys policy Keys/app --keep 3", as: name, place), 64, saying: "PUSHCRYPT_WRITER")
    }

    @Test("the machine id is hashed, and a file without one gives no name")
    func machine() throws {
        let folder = try TemporaryFolder()
        let file = folder.file("machine-id")
        func name(_ text: String) throws -> String? {
            try Data(text.utf8).write(to: file)
            return try Writer.ofThisHost(machineIDFile: file.path)
        }
        let id = "0123456789abcdef0123456789abcdef"
        let first = try #require(try name(id + "\n"))
        #expect(first.hasPrefix("machine-") && first.count == 24 && !first.contains("0123"))
        #expect(try name(id) == first)
        #expect(try name(id.replacing("f", with: "e")) != first)
        for text in ["", "uninitialized\n", id + "0", id.uppercased()] { #expect(try name(text) == nil, "\(text)") }
        #expect(try Writer.ofThisHost(machineIDFile: folder.file("none").path) == nil)
    }
}
