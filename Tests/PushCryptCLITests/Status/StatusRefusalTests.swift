import Foundation
import PushCryptCore
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

/// What `rotate` refuses, and what can't be read.
@Suite("status of keysets that rotate refuses", .ownThreads)
struct StatusRefusalTests {
    private let place: Workplace
    private static let secret = ["--passphrase-file", "passphrase"]

    init() throws {
        place = try Workplace()
        try place.createEncrypted("Keys/fleet", .shared, scrypt: .standard)
    }

    private func run(
        _ command: String, _ options: [String] = [], as writer: String = CLI.writer, at time: String = Workplace.now
    ) throws -> Output {
        try place.settle("Keys")
        let arguments = command.split(separator: " ").map(String.init) + options + ["--at", time]
        return try CLI.start(arguments, in: place.folder.url, environment: ["PUSHCRYPT_WRITER": writer]).wait()
    }

    private func keyset(_ path: String, _ output: Output) throws -> [String: Any] {
        let keysets = try #require(try output.object()["keysets"] as? [[String: Any]])
        return try #require(keysets.first { $0["keyset"] as? String == path }, "\(output)")
    }

    @Test("a keyset whose file is lost is a row, an object and a metric, and keysets= counts it")
    func lost() throws {
        try place.create("Keys/lost", "shared")
        try place.remove("Keys/lost/keyset.json")
        try expectRow(try run("status Keys --prometheus push.prom"))
        #expect(try keyset("Keys/lost", run("status Keys --json"))["status"] as? String == "critical")
    }

    @Test(
        "a keyset whose folder can't be read is a row, an object and a metric, and keysets= counts it",
        .enabled(if: Unprivileged.isAvailable, Unprivileged.missing))
    func unreadable() throws {
        try place.create("Keys/lost", "shared")
        try place.settle("Keys")
        try place.giveAway()
        try place.setMode(0o000, of: "Keys/lost")
        defer { try? place.setMode(0o700, of: "Keys/lost") }
        let status = "\(Unprivileged.prefix) \"$PUSHCRYPT\" status Keys --at \(Workplace.now)"
        try expectRow(try place.shell(status + " --prometheus push.prom"))
        #expect(try keyset("Keys/lost", place.shell(status + " --json"))["status"] as? String == "critical")
    }

    private func expectRow(_ output: Output) throws {
        #expect(output.exit == 2 && output.text.contains(" | keysets=2 "), "\(output)")
        #expect(output.text.contains("Keys/lost   critical  -          -      can't be read\n"), "\(output)")
        let metrics = String(decoding: try place.read("push.prom"), as: UTF8.self)
        #expect(metrics.contains("pushcrypt_keyset_status{keyset=\"Keys/lost\"} 2\n"), "\(metrics)")
        #expect(metrics.contains("pushcrypt_keyset_problems{keyset=\"Keys/lost\",severity=\"critical\"} 1\n"))
    }

    @Test("on another host than the writer, a step that is due is blocked, and the advice names the writer")
    func otherHost() throws {
        let time = StatusTests.day(85)
        let rotation = try run("rotate Keys/fleet --dry-run", Self.secret, as: "host-b", at: time)
        #expect(rotation.exit == 75, "\(rotation)")
        let output = try run("status Keys", Self.secret, as: "host-b", at: time)
        #expect(output.exit == 1 && output.text.contains(" due=0 blocked=1 "), "\(output)")
        #expect(output.text.contains("which is blocked: tests changes this keyset, and this is host-b"), "\(output)")
        #expect(output.text.contains(#/\n         pushcrypt rotate .*  # on tests\n/#), "\(output)")
        let json = try keyset("Keys/fleet", run("status Keys --json", Self.secret, as: "host-b", at: time))
        let blocked = try #require((json["blocked"] as? [[String: Any]])?.first)
        #expect((blocked["because"] as? String)?.hasPrefix("tests changes this keyset") == true, "\(json)")
        #expect((json["refusal"] as? String)?.hasPrefix("tests changes this keyset") == true, "\(json)")
        #expect((json["due"] as? [Any])?.isEmpty == true)
        let quiet = try run("status Keys", Self.secret, as: "host-b")
        #expect(quiet.exit == 1 && quiet.text.contains(" blocked=0 "), "nothing is due: \(quiet)")
        #expect(quiet.text.contains("warning  Keys/fleet: tests changes this keyset, and this is host-b\n"), "\(quiet)")
        #expect(try run("status Keys --ignore other-writer", Self.secret, as: "host-b").exit == 0, "a copy to read")
    }

    static let faults: [(name: String, damage: String, time: String, rotate: Int32, words: String)] = [
        ("a clock in the past", "true", StatusTests.day(-3), 75, "which is before the last change"),
        ("a broken log", "sed -i s/created/added/ Keys/fleet/audit.jsonl", Workplace.now, 65, "the audit log"),
        ("a loose mode", "chmod 644 Keys/fleet/keyset.json", Workplace.now, 77, "users other than the owner can open"),
        ("a wrong secret", "echo wrong >passphrase", Workplace.now, 77, "the passphrase is wrong"),
    ]

    @Test("a keyset that rotate refuses is blocked also if nothing is due, and JSON has the reason", arguments: faults)
    func refused(_ test: (name: String, damage: String, time: String, rotate: Int32, words: String)) throws {
        _ = try place.shell(test.damage)
        #expect(try run("rotate Keys/fleet", Self.secret, at: test.time).exit == test.rotate)
        let output = try run("status Keys --prometheus push.prom", Self.secret, at: test.time)
        #expect(output.text.contains(" due=0 blocked=1 "), "\(output)")
        #expect(output.text.contains("  blocked: every step\n"), "\(output)")
        let metrics = String(decoding: try place.read("push.prom"), as: UTF8.self)
        #expect(metrics.contains("pushcrypt_keyset_blocked_steps{keyset=\"Keys/fleet\"} 1\n"), "\(metrics)")
        let json = try keyset("Keys/fleet", run("status Keys --json", Self.secret, at: test.time))
        #expect((json["refusal"] as? String)?.contains(test.words) == true, "\(json)")
    }

    @Test(
        "a step that is due on a keyset with a broken log is blocked, and rotate is advised only after the correction")
    func brokenLogAndDue() throws {
        try place.edit("Keys/fleet/audit.jsonl") { $0.replacing("created", with: "added") }
        let output = try run("status Keys", Self.secret, at: StatusTests.day(85))
        #expect(output.exit == 2 && output.text.contains(" due=0 blocked=1 "), "\(output)")
        #expect(output.text.contains("but rotate refuses the keyset until its error is corrected"), "\(output)")
        #expect(
            output.text.contains(
                #/\n         pushcrypt rotate .*  # after you have corrected the keyset's error\n/#), "\(output)")
    }

    @Test(
        "a keyset whose file is damaged or lost is blocked, in the text, in JSON and in the metrics",
        arguments: [
            "head -c 300 Keys/fleet/keyset.json >x; cat x >Keys/fleet/keyset.json", "rm Keys/fleet/keyset.json",
        ])
    func unusable(_ damage: String) throws {
        _ = try place.shell(damage)
        let output = try run("status Keys --prometheus push.prom")
        #expect(output.exit == 2 && output.text.contains(" due=0 blocked=1 "), "\(output)")
        let metrics = String(decoding: try place.read("push.prom"), as: UTF8.self)
        #expect(metrics.contains("pushcrypt_keyset_blocked_steps{keyset=\"Keys/fleet\"} 1\n"), "\(metrics)")
        let json = try keyset("Keys/fleet", run("status Keys --json"))
        #expect((json["refusal"] as? String)?.isEmpty == false, "\(json)")
    }

    @Test("if no problem says so, a line says which host is to carry out a step that is due")
    func otherHostOfSet() throws {
        let signed = try SignedSetPlace().place
        try signed.settle("Keys")
        let line = "\nblocked  Keys/senders: tests changes this keyset, and this is host-b\n"
        func status(_ writer: String) throws -> Output {
            let arguments = ["status", "Keys", "--ignore", "other-writer", "--at", SignedSetPlace.day(50)]
            return try CLI.start(arguments, in: signed.folder.url, environment: ["PUSHCRYPT_WRITER": writer]).wait()
        }
        let output = try status("host-b")
        #expect(output.text.contains(line) && output.text.contains(" blocked=1 "), "\(output)")
        #expect(!(try status(CLI.writer).text.contains("blocked  ")))
    }

    @Test("keys list blocks what another host is to do, and what the clock blocks, as status and rotate do")
    func listed() throws {
        func list(_ path: String, _ writer: String, _ time: String) throws -> Output {
            try run("keys list \(path)", as: writer, at: time)
        }
        let time = StatusTests.day(85)
        let other = try list("Keys/fleet", "host-b", time)
        #expect(other.text.contains("Blocked: add a key, since "), "\(other)")
        #expect(!other.text.contains("pushcrypt rotate"), "\(other)")
        #expect(try list("Keys", "host-b", time).text.contains("blocked: add a key"))
        #expect(try list("Keys", CLI.writer, time).text.contains("due: add a key"))
        let past = try list("Keys", CLI.writer, StatusTests.day(-3))
        #expect(past.exit == 0 && past.text.contains("blocked: every step"), "\(past)")
        #expect(past.stderr.contains("Keys/fleet: the clock is at ") && !past.text.contains("in 8"), "\(past)")
    }

    @Test("a keyset that rotate accepts has no refusal in JSON")
    func accepted() throws {
        #expect(try keyset("Keys/fleet", run("status Keys --json", Self.secret))["refusal"] is NSNull)
    }

    static let secrets: [(options: [String], state: String, advice: String)] = [
        (["--passphrase-file", "other"], "wrong", "give the right one: "),
        (["--passphrase-file", "none"], "unusable", "put the passphrase into none, or name another file"),
        (["--passphrase-file", "loose file"], "unusable", "chmod 600 'loose file'"),
        (["--check-secret"], "unusable", "give --passphrase-file, --passphrase-fd or --wrap-command"),
        (["--wrap-command", "false"], "unusable", "give its passphrase with --passphrase-file or --passphrase-fd"),
        (["--passphrase-file", "empty"], "unusable", "correct the passphrase, or name another source of it"),
    ]

    @Test(
        "a wrong secret is wrong; one that is missing or can't be read is unusable, with its next step",
        arguments: secrets)
    func secret(_ test: (options: [String], state: String, advice: String)) throws {
        try place.write(Data("wrong horse".utf8), to: "other")
        try place.write(Data("correct horse".utf8), to: "loose file", mode: 0o644)
        try place.write(Data(), to: "empty")
        let output = try run("status Keys --prometheus push.prom", test.options)
        #expect(output.exit == 2 && output.text.contains("Keys/fleet  critical  \(test.state) "), "\(output)")
        #expect(output.text.contains("\n         \(test.advice)"), "\(output)")
        #expect(try keyset("Keys/fleet", run("status Keys --json", test.options))["secret"] as? String == test.state)
        let metrics = String(decoding: try place.read("push.prom"), as: UTF8.self)
        #expect(metrics.contains("pushcrypt_keyset_secret_ok{keyset=\"Keys/fleet\"} 0\n"), "\(metrics)")
    }
}
