import Foundation
import PushCryptCore
import PushCryptTestSupport
import Testing

@testable import pushcrypt

@Suite("errors about arguments say what is accepted", .ownThreads)
struct FormatAdviceTests {
    @Test(
        "a value of the wrong format: the message describes the format with an example",
        arguments: [
            (["keys", "list", "Keys", "--at", "tomorrow"], "A TIME is RFC 3339, as in 2026-03-01T09:00:00Z"),
            (["keys", "policy", "Keys/a", "--at", "2026-01-01"], "as in 2026-01-01T00:00:00Z."),
            (["rotate", "Keys/a", "--at", "2026-13-01T00:00:00Z"], "There is no month 13: months are 01 to 12."),
            (["rotate", "Keys/a", "--at", "2026-02-29T00:00:00Z"], "There is no day 29 in 2026-02: days are 01"),
            (["rotate", "Keys/a", "--at", "2026-04-01T24:00:00Z"], "There is no hour 24: hours are 00 to 23."),
            (["rotate", "Keys/a", "--at", "2026-04-01T12:00:00"], "Z for UTC, as in 2026-04-01T12:00:00Z, or an"),
            (["rotate", "Keys/a", "--at", "2026-04-01 12:00:00Z"], "a T before its hour, as in 2026-04-01T12:00:00Z."),
            (["keys", "policy", "Keys/a", "--overlap", "5y"], "as in 30d, 36h or 1d12h. A year is 365d."),
            (["revoke", "Keys/a", "qi9+"], "A KID is the id of a key, 11 characters"),
            (["revoke", "Keys/a", "qi9"], "at least its first 4 characters"),
            (["keys", "policy", "Keys/a", "--keep", "99999999999999999999"], "N is too large."),
            (["keys", "policy", "Keys/a", "--require-coverage", "150%"], "a percentage up to 100%"),
            (["keys", "policy", "Keys/a", "--rotate-every", "-5d"], "with an equals sign: --rotate-every=-5d"),
        ])
    func format(_ arguments: [String], _ advice: String) throws {
        let output = try CLI.run(arguments)
        expectUsageError(output)
        let lines = output.stderr.split(separator: "\n")
        #expect(lines.count > 1 && lines[1].contains(advice), "\(output)")
    }

    @Test(
        "a misspelt command: the message names the nearest one",
        arguments: [
            (["diagnos"], "pushcrypt diagnose"), (["keys", "lst"], "pushcrypt keys list"),
            (["keys", "rotate"], "pushcrypt rotate"), (["rotat", "--now", "Keys/a"], "pushcrypt rotate"),
        ])
    func command(_ arguments: [String], _ nearest: String) throws {
        let output = try CLI.run(arguments)
        expectUsageError(output)
        #expect(output.stderr.hasPrefix("Error: There is no command 'pushcrypt \(arguments[0])"), "\(output)")
        #expect(output.stderr.contains("\nDid you mean '\(nearest)'?\n"), "\(output)")
    }

    @Test("an option named --passphrase is unknown, and the message names --passphrase-file")
    func passphrase() throws {
        let output = try CLI.run(["rotate", "Keys/a", "--passphrase", "pass"])
        expectUsageError(output)
        #expect(output.stderr.contains("Did you mean '--passphrase-file'?"), "\(output)")
    }

    @Test(
        "an option that takes one value and is given twice is refused",
        arguments: [
            ["rotate", "Keys/a", "--at", "1", "--at=2"], ["keys", "policy", "Keys/a", "--keep", "2", "--keep", "3"],
        ])
    func twice(_ arguments: [String]) throws {
        expectRefusal(try CLI.run(arguments), 64, saying: "is given more than once, but takes one value")
    }
}

@Suite("first characters of a key's id", .ownThreads)
struct KeyIDPrefixTests {
    private static let time = "2026-02-02T00:00:00Z"
    private let place: Workplace
    /// The ids of a primary key and a pending one.
    private let kids: [String]

    init() throws {
        place = try Workplace()
        kids = try place.writeKeyset("Keys/app", [SampleLifecycles.primary, SampleLifecycles.pending])
    }

    @Test("keys export prints the key whose id begins with them")
    func exported() throws {
        let export = ["keys", "export", "Keys/app", "--private", "--insecure-plaintext", "--at", Self.time, "--"]
        let whole = try place.run(export + [kids[1]])
        #expect(whole.isSuccess, "\(whole)")
        for count in 4...10 {
            #expect(try place.run(export + [String(kids[1].prefix(count))]).stdout == whole.stdout, "\(count)")
        }
        expectUsageError(try place.run(export + [String(kids[1].prefix(3))]))
    }

    @Test(
        "characters with which no id begins are refused with the ids that there are",
        arguments: [
            ["keys", "export", "--private", "--insecure-plaintext"], ["revoke", "--dry-run"],
            ["keys", "destroy", "--dry-run"],
        ])
    func unknown(_ command: [String]) throws {
        let output = try place.run(command + ["--at", Self.time, "Keys/app", "zzzz"])
        expectRefusal(output, 66, saying: "no key's id begins with zzzz; there are: \(kids[0]), \(kids[1])")
    }

    @Test(
        "an id that begins with a dash is no options, and -h and --help ask for help",
        arguments: [
            ["keys", "export", "--private", "--insecure-plaintext"], ["revoke", "--yes"], ["keys", "destroy", "--yes"],
        ])
    func dashed(_ command: [String]) throws {
        for arguments in [["Keys/app", "-tm9JkhS56Q"], ["Keys/app", "-qhxAbCdEfE", "--at", Self.time]] {
            expectRefusal(try place.run(command + arguments), 66, saying: "\(arguments[1])")
        }
        for help in ["-h", "--help"] { #expect(try place.run(command + [help]).text.hasPrefix("OVERVIEW")) }
    }

    @Test("values keep their order behind -- from the first that begins with a dash, and options keep their values")
    func order() throws {
        let given = ["restore", "a", "--over", "-bc", "-", "--at", "-d", "e", "--json", "--", "-f"]
        let checked = try GivenValues.checked(given)
        #expect(checked == ["restore", "a", "--over", "--at", "-d", "--json", "--", "-bc", "-", "e", "-f"])
    }

    @Test("characters with which two ids begin are refused with both")
    func ambiguous() throws {
        let twins = ["tombAAAAAAA", "tombBBBBBBA"].compactMap { KeyID($0) }
        let prefix = try #require(KeyIDPrefix(argument: "tomb"))
        let refusal = #expect(throws: Failure.self) { try prefix.kid(among: twins, of: "Keys/two") }
        #expect(refusal?.status == .usage)
        #expect(refusal?.message.contains("tomb is short for tombAAAAAAA and tombBBBBBBA") == true)
        #expect(try #require(KeyIDPrefix(argument: "tombA")).kid(among: twins, of: "Keys/two") == twins[0])
    }

    @Test("--yes demands the whole id, --dry-run does not", arguments: [["revoke"], ["keys", "destroy"]])
    func whole(_ command: [String]) throws {
        let short = String(kids[1].prefix(4))
        let arguments = ["--at", Self.time, "--", "Keys/app", short]
        let refused = try place.run(command + ["--yes"] + arguments)
        expectRefusal(refused, 64, saying: "\(short) is short for \(kids[1]); with --yes, give the whole id")
        let dry = try place.run(command + ["--dry-run"] + arguments)
        #expect((dry.text + dry.stderr).contains(kids[1]), "\(dry)")
        #expect(try place.states("Keys/app", at: Self.time) == ["primary", "pending"])
    }

    #if os(Linux)
    @Test(
        "a command that asks takes the first characters and asks with the whole id",
        .enabled(if: TerminalSession.isAvailable))
    func asks() throws {
        let session = try TerminalSession(
            "\"$PUSHCRYPT\" revoke --at \(Self.time) -- Keys/app \(kids[1].prefix(4))", in: place)
        try session.wait(for: "revoking key \(kids[1]) of Keys/app")
        try session.wait(for: "Type yes to go on: ")
        try session.type("yes\n")
        #expect(try session.exitStatus() == 0)
        #expect(try place.states("Keys/app", at: Self.time) == ["primary", "revoked"])
    }
    #endif
}
