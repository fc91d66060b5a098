import ArgumentParser
import Foundation
import Testing

@testable import pushcrypt

/// Numbers from outside at and beyond the ends of what they may be.
@Suite("a number of an option", .ownThreads)
struct NumberTests {
    struct Case: CustomTestStringConvertible {
        let command: [String]
        let option: String

        var testDescription: String { command.prefix { !$0.hasPrefix("-") }.joined(separator: " ") + " " + option }

        init(_ command: String, _ option: String) {
            (self.command, self.option) = (command.split(separator: " ").map(String.init), option)
        }
    }

    private static let sealing = "seal --to fleet.json --topic com.example.app"
    private static let opening = "open --keys fleet.json --topic com.example.app"
    private static let rehearsing = "keys rehearse --devices 50 --refresh-p50 1h --refresh-p99 2h"

    /// Every option of the tool that takes a number, a time, a length of time or a share.
    static let cases: [Case] = [
        Case("inspect", "--limit"), Case("inspect --keys fleet.json --topic a", "--at"), Case(sealing, "--limit"),
        Case(sealing, "--pad"), Case(sealing, "--expires"), Case(sealing, "--at"), Case(sealing, "--passphrase-fd"),
        Case(sealing + " --batch", "--jobs"), Case(sealing + " --batch", "--resume-from"), Case(opening, "--at"),
        Case(opening + " --batch", "--jobs"), Case(opening + " --batch", "--resume-from"),
        Case("keys create Keys/new --kind shared --insecure-plaintext", "--rotate-every"),
        Case("keys create Keys/new --kind shared --insecure-plaintext", "--publish-lead"),
        Case("keys create Keys/new --kind shared --insecure-plaintext", "--overlap"),
        Case("keys create Keys/new --kind shared --insecure-plaintext", "--keep"),
        Case("keys create Keys/new --kind shared --insecure-plaintext", "--require-coverage"),
        Case("keys create Keys/new --kind shared --insecure-plaintext", "--at"),
        Case("keys policy Keys/ios", "--rotate-every"), Case("keys policy Keys/ios", "--keep"),
        Case("keys add Keys/ios", "--activates-at"), Case("keys add Keys/ios", "--at"),
        Case("keys passwd Keys/ios", "--new-passphrase-fd"), Case("keys list Keys/ios", "--at"),
        Case("rotate Keys/ios --confirm-clock --yes", "--at"),
        Case(rehearsing, "--seed"), Case(rehearsing, "--offline"), Case(rehearsing, "--pushes-per-day"),
        Case("keys rehearse --refresh-p50 1h --refresh-p99 2h", "--devices"),
        Case("keys rehearse --devices 50 --refresh-p99 4294967295w", "--refresh-p50"),
        Case("keys rehearse --devices 50 --refresh-p50 1s", "--refresh-p99"),
    ]

    static let values = [
        "", "0", "-1", "-0", "1", "9007199254740992", "9223372036854775807", "9223372036854775808",
        "-9223372036854775808", "18446744073709551615", "18446744073709551616", "1e400", "1e-400", "nan", "inf", "0x10",
        "0s", "4294967295w", "4294967296w", "P4294967295W", "99999999999999999999d", "9999-12-31T23:59:59Z",
        "9999-12-31T23:59:59-23:59", "0000-01-01T00:00:00+23:59", "99.999%", "100%", "0.0000001%",
    ]

    /// The parser runs in this process, which a trap would end; what it accepts is done by the tool.
    @Test("is refused as bad usage or data, or used, and never ends the tool by a signal", arguments: cases)
    func ends(_ number: Case) throws {
        let batch = try BatchPlace()
        try batch.place.create("Keys/ios", "shared")
        for value in Self.values {
            let arguments = number.command + ["\(number.option)=\(value)"]
            do {
                _ = try PushCrypt.parseAsRoot(arguments)
            } catch {
                #expect(PushCrypt.exitCode(for: error).rawValue == 64, "\(value)")
                continue
            }
            let output = try batch.place.run(arguments, stdin: Data(#"{"aps":{"alert":"x"}}"#.utf8))
            #expect(StoredNumberTests.statuses.contains(output.exit), "\(value): \(output)")
        }
        // What changes have written can be read again.
        #expect(try batch.place.run("keys", "list", "Keys/ios").isSuccess)
    }

    @Test("--limit of inspect is refused above what inspect reads", arguments: ["65537", "9223372036854775807"])
    func limit(value: String) throws {
        expectUsageError(try CLI.run(["inspect", "--limit", value], stdin: Data(#"{"aps":{}}"#.utf8)))
    }
}

@Suite("a number in a stored file", .ownThreads)
struct StoredNumberTests {
    /// All that the help documents but 70, an internal error.
    static let statuses: Set<Int32?> = [0, 64, 65, 66, 73, 74, 75, 77]

    private static let numbers = [
        "-1", "0", "9007199254740991", "9007199254740992", "9223372036854775807", "9223372036854775808", "1e400", "1.5",
        "null",
    ]
    private static let times = [
        #""9999-12-31T23:59:59Z""#, #""9999-12-31T23:59:59-23:59""#, #""0000-01-01T00:00:00Z""#,
        #""0000-01-01T00:00:00+23:59""#, "0",
    ]

    /// A member of `keyset.json`, and what takes the place of its value.
    static let members: [(name: String, values: [String])] =
        ["seq", "count", "keep"].map { ($0, numbers) }
        + ["updatedAt", "createdAt", "activatesAt"].map { ($0, times) }
        + ["rotateEvery", "overlap"].map { ($0, [#""P4294967295W""#, #""P9999999999D""#, #""PT0S""#, "1"]) }

    @Test("a keyset is refused or used, and what a change writes can be read again", arguments: members)
    func keyset(member: (name: String, values: [String])) throws {
        let place = try Workplace()
        try place.create("Keys/ios", "shared")
        let text = String(decoding: try place.readForEditing("Keys/ios/keyset.json"), as: UTF8.self)
        let pattern = try Regex("\"\(member.name)\": ?(\"[^\"]*\"|[0-9.]+)")
        for value in member.values {
            let changed = text.replacing(pattern, with: "\"\(member.name)\": \(value)")
            #expect(changed != text)
            try place.write(Data(changed.utf8), to: "Keys/ios/keyset.json")
            let before = try place.run("keys", "list", "Keys/ios", "--at", Workplace.now)
            let change = try place.run("keys", "add", "Keys/ios", "--at", Workplace.now)
            let after = try place.run("keys", "list", "Keys/ios", "--at", Workplace.now)
            for output in [before, change, after] {
                #expect(Self.statuses.contains(output.exit), "\(value): \(output)")
            }
            #expect(before.exit == after.exit, "\(value): \(change) \(after)")
        }
    }

    @Test("scrypt parameters out of bounds are refused", arguments: ["n", "r", "p"], numbers)
    func scrypt(name: String, value: String) throws {
        let place = try Workplace()
        let parameters = ["n", "r", "p"].map { "\"\($0)\": \($0 == name ? value : "2")" }.joined(separator: ", ")
        let salt = String(repeating: "A", count: 22)
        let file = """
            {"sealed": {"v": 1, "passphrase": {\(parameters), "salt": "\(salt)", "check": "\(salt)"},
             "dataKey": "\(String(repeating: "A", count: 80))", "keys": "\(String(repeating: "A", count: 80))"},
             "pushcrypt": {"seq": 1, "kind": "shared", "keys": {}}}
            """
        try place.makeFolder("Keys/ios")
        try place.write(Data(file.utf8), to: "Keys/ios/keyset.json")
        try place.write(Data("passphrase\n".utf8), to: "passphrase")
        let output = try place.run(["seal", "--to", "Keys/ios", "--topic", "a", "--passphrase-file", "passphrase"])
        #expect(output.exit == 65 && output.hasOneLineOnStderr, "\(output)")
    }

    @Test("a blob's size beyond 2^48 bytes is refused", arguments: numbers.filter { $0 != "0" })
    func blobSize(value: String) throws {
        let place = try BatchPlace().place
        let (key, digest) = (String(repeating: "A", count: 43), String(repeating: "A", count: 43))
        let reference = #"{"url":"https://a/b","key":"\#(key)","size":\#(value),"sha256":"\#(digest)"}"#
        try place.write(Data(reference.utf8), to: "blob.json")
        let opened = try place.run(["blob", "open", "--reference", "blob.json", "--output", "plain"])
        let sealed = try place.run(["seal", "--to", "fleet.json", "--topic", "a", "--offload", "blob.json"])
        for output in [opened, sealed] { #expect(output.exit == 65 && output.hasOneLineOnStderr, "\(output)") }
    }

    @Test("a device's report at either end of time is counted or refused", arguments: times)
    func report(time: String) throws {
        let place = try Workplace()
        let kid = try place.create("Keys/ios", "recipient")
        try place.write(Data(#"{"device":"d","kid":"\#(kid)","seenAt":\#(time)}"#.utf8), to: "reports.jsonl")
        let output = try place.run("keys", "coverage", "Keys/ios", "--reports", "reports.jsonl", "--at", Workplace.now)
        #expect(Self.statuses.contains(output.exit), "\(output)")
    }
}
