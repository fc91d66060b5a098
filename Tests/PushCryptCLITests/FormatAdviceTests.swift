import Foundation
import PushCryptTestSupport
import Testing

@Suite("errors about arguments say what is accepted", .ownThreads)
struct FormatAdviceTests {
    @Test(
        "a value of the wrong format: the message describes the format with an example",
        arguments: [
            (["keys", "list", "Keys", "--at", "tomorrow"], "A TIME is RFC 3339, as in 2026-03-01T09:00:00Z"),
            (
                ["keys", "list", "Keys", "--at", "2026-01-01"],
                "A TIME needs a time of day, as in 2026-01-01T00:00:00Z."
            ),
            (["keys", "policy", "Keys/a", "--at", "2026-01-01"], "as in 2026-01-01T00:00:00Z."),
            (["rotate", "Keys/a", "--at", "2026-13-01T00:00:00Z"], "There is no month 13: months are 01 to 12."),
            (["rotate", "Keys/a", "--at", "2026-00-01"], "There is no month 00: months are 01 to 12."),
            (
                ["rotate", "Keys/a", "--at", "2026-04-31T00:00:00Z"],
                "There is no day 31 in 2026-04: days are 01 to 30."
            ),
            (
                ["rotate", "Keys/a", "--at", "2026-02-29T00:00:00Z"],
                "There is no day 29 in 2026-02: days are 01 to 28."
            ),
            (
                ["rotate", "Keys/a", "--at", "2024-02-30T00:00:00Z"],
                "There is no day 30 in 2024-02: days are 01 to 29."
            ),
            (["rotate", "Keys/a", "--at", "2026-04-01T24:00:00Z"], "There is no hour 24: hours are 00 to 23."),
            (["rotate", "Keys/a", "--at", "2026-04-01T12:60:00Z"], "There is no minute 60: minutes are 00 to 59."),
            (["rotate", "Keys/a", "--at", "2026-04-01T12:00:61Z"], "There is no second 61: seconds are 00 to 60."),
            (
                ["rotate", "Keys/a", "--at", "2026-04-01T12:00:00"],
                "Z for UTC, as in 2026-04-01T12:00:00Z, or an offset"
            ),
            (["rotate", "Keys/a", "--at", "2026-04-01 12:00:00Z"], "a T before its hour, as in 2026-04-01T12:00:00Z."),
            (["rotate", "Keys/a", "--at", "2026-04-01T9:00Z"], "A TIME is RFC 3339, as in 2026-03-01T09:00:00Z"),
            (["keys", "policy", "Keys/a", "--overlap", "5y"], "as in 30d, 36h or 1d12h. A year is 365d."),
            (["keys", "add", "Keys/a", "--activates-at", "5y"], "A TIME is RFC 3339"),
            (["rotate", "Keys/a", "--emergency", "--revoke", "qi9+"], "A KID is the id of a key, 11 characters"),
            (["keys", "show", "Keys/a", "qi9"], "at least its first 4 characters"),
            (["keys", "policy", "Keys/a", "--keep", "two"], "N is a whole number."),
            (["keys", "policy", "Keys/a", "--keep", "99999999999999999999"], "N is too large."),
            (["keys", "policy", "Keys/a", "--require-coverage", "150%"], "a percentage up to 100%"),
            (["keys", "policy", "Keys/a", "--rotate-every", "-5d"], "with an equals sign: --rotate-every=-5d"),
            (["keys", "promote", "Keys/a", "qi99zniTdWc", "--require-coverage", "most"], "as in 99.9%."),
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
            (["diagnos"], "pushcrypt diagnose"), (["kyes"], "pushcrypt keys"),
            (["keys", "lst"], "pushcrypt keys list"),
            (["doctor"], "pushcrypt keys doctor"), (["keys", "rotate"], "pushcrypt rotate"),
            (["blob", "oepn"], "pushcrypt blob open"), (["rotat", "--all", "Keys"], "pushcrypt rotate"),
            (["stauts", "Keys"], "pushcrypt status"), (["keys", "retsore", "--from", "x"], "pushcrypt keys restore"),
        ])
    func command(_ arguments: [String], _ nearest: String) throws {
        let output = try CLI.run(arguments)
        expectUsageError(output)
        #expect(output.stderr.hasPrefix("Error: There is no command 'pushcrypt \(arguments[0])"), "\(output)")
        #expect(output.stderr.contains("\nDid you mean '\(nearest)'?\n"), "\(output)")
    }

    @Test("a word that is near no command, and a surplus argument, get no suggestion")
    func none() throws {
        for arguments in [["xyzzy"], ["demo", "mroe"]] {
            let output = try CLI.run(arguments)
            expectUsageError(output)
            #expect(!output.stderr.contains("Did you mean"), "\(output)")
        }
    }

    @Test(
        "an option named --passphrase gets the suggestion of the file, and of the descriptor only with a number",
        arguments: [
            (["rotate", "Keys/a", "--passphrase", "pass"], "--passphrase-file"),
            (["rotate", "Keys/a", "--passphrase"], "--passphrase-file"),
            (["keys", "backup", "Keys/a", "--to", "b", "--backup-passphrase=pass"], "--backup-passphrase-file"),
            (["rotate", "Keys/a", "--passphrase", "3"], "--passphrase-fd"),
        ])
    func passphrase(_ arguments: [String], _ option: String) throws {
        let output = try CLI.run(arguments)
        expectUsageError(output)
        #expect(output.stderr.contains("Did you mean '\(option)'?"), "\(output)")
    }

    @Test("a file that isn't JSON: the message says how JSON begins")
    func json() throws {
        let place = try Workplace()
        try place.create("Keys/ios", "recipient")
        let inspected = try place.run("inspect", stdin: Data("hello".utf8))
        expectRefusal(inspected, 65, saying: "JSON refused at byte 0: it must begin with a JSON value, such as {")
    }

    @Test(
        "an option that takes one value and is given twice is refused in every command",
        arguments: [
            ["seal", "--to", "Keys/a", "--topic", "a.b", "--device", "one", "--device", "two"],
            ["open", "--keys", "Keys/a", "--topic", "a.b", "--topic", "a.c"],
            ["rotate", "Keys/a", "--at", "1", "--at=2"], ["keys", "policy", "Keys/a", "--keep", "2", "--keep", "3"],
            ["inspect", "--limit", "1", "--limit", "2"],
            ["blob", "open", "--reference", "a", "--output", "b", "--output", "c"],
        ])
    func twice(_ arguments: [String]) throws {
        expectRefusal(try CLI.run(arguments), 64, saying: "is given more than once, but takes one value")
    }

    @Test("options that take several values, and flags, may be repeated")
    func several() throws {
        let place = try Workplace()
        try place.create("Keys/ios", "shared")
        #expect(
            try place.seal(to: "Keys/ios", "--retract", "AAAAAAAAAAAAAAAAAAAAAA", "--retract", "BBBBBBBBBBBBBBBBBBBBBA")
                .isSuccess)
        #expect(try place.run("keys", "list", "Keys", "--json", "--json").isSuccess)
    }
}

@Suite("first characters of a key's id", .ownThreads)
struct KeyIDPrefixTests {
    private let place: Workplace
    private let kid: String

    init() throws {
        place = try Workplace()
        kid = try place.createAtNewYear("Keys/app")
        _ = try place.rotate("Keys/app", at: "2026-02-01T00:00:00Z", "--now")
    }

    private var pending: String {
        get throws { try #require(try place.keys("Keys/app", at: "2026-02-01T00:00:00Z").last?.kid) }
    }

    @Test("keys show finds the key whose id begins with them, from four characters on")
    func show() throws {
        for count in 4...11 {
            let output = try place.run("keys", "show", "Keys/app", "--", String(kid.prefix(count)))
            #expect(output.isSuccess && output.text.hasPrefix("Key \(kid) of Keys/app"), "\(output)")
        }
        expectUsageError(try place.run("keys", "show", "Keys/app", "--", String(kid.prefix(3))))
    }

    @Test("characters with which no id begins are refused with the ids that there are")
    func unknown() throws {
        let output = try place.run("keys", "show", "Keys/app", "zzzz")
        expectRefusal(output, 66, saying: "no key's id begins with zzzz; there are: \(kid), \(try pending)")
    }

    @Test("characters with which two ids begin are refused with both")
    func ambiguous() throws {
        let destroyed = SampleLifecycles.destroyed
        let kids = try place.writeKeyset("Keys/two", [destroyed, destroyed, SampleLifecycles.primary])
        let output = try place.run("keys", "show", "Keys/two", "tomb")
        expectRefusal(output, 64, saying: "tomb is short for \(kids[0]) and \(kids[1]): give more characters")
    }

    @Test("with --yes or --force the whole id is required", arguments: ["--yes", "--force"])
    func whole(_ flag: String) throws {
        let short = String(try pending.prefix(4))
        for command in ["promote", "revoke", "destroy", "retire"] {
            let output = try place.run("keys", command, "Keys/app", flag, "--at", "2026-02-02T00:00:00Z", "--", short)
            expectRefusal(
                output, 64, saying: "\(short) is short for \(try pending); with --yes or --force, give the whole id")
        }
    }

    @Test("keys export --kid prints the key whose id begins with the characters, and refuses those of no key")
    func exported() throws {
        let pending = try pending
        func export(_ kid: String) throws -> Output {
            try place.run("keys", "export", "Keys/app", "--private", "--insecure-plaintext", "--kid=\(kid)")
        }
        let whole = try export(pending)
        #expect(whole.isSuccess, "\(whole)")
        #expect(try export(String(pending.prefix(4))).stdout == whole.stdout)
        expectRefusal(try export("zzzz"), 66, saying: "no key's id begins with zzzz; there are: \(kid), \(pending)")
        expectUsageError(try export(String(pending.prefix(3))))
    }

    @Test("rotate --revoke and --promote take them with --dry-run, but not with --yes, and refuse those of two keys")
    func emergency() throws {
        let pending = try pending
        let (short, shortPending) = (String(kid.prefix(4)), String(pending.prefix(4)))
        let command = ["rotate", "Keys/app", "--emergency", "--at", "2026-02-05T00:00:00Z", "--revoke=\(short)"]
        let dry = try place.run(command + ["--promote=\(shortPending)", "--dry-run"])
        #expect(dry.exit == 10 && dry.text.hasPrefix("would revoke key \(kid)\n"), "\(dry)")
        #expect(!dry.text.contains("until they have fetched the new key"), "\(dry)")
        expectRefusal(try place.run(command + ["--yes"]), 64, saying: "\(short) is short for \(kid)")
        let whole = ["rotate", "Keys/app", "--emergency", "--at", "2026-02-05T00:00:00Z", "--revoke=\(kid)", "--yes"]
        expectRefusal(
            try place.run(whole + ["--promote=\(shortPending)"]), 64, saying: "\(shortPending) is short for \(pending)")
        expectRefusal(
            try place.run(
                "keys", "revoke", "Keys/app", "--yes", "--promote=\(shortPending)", "--at", "2026-02-05T00:00:00Z",
                "--", kid),
            64, saying: "\(shortPending) is short for \(pending)")
        expectRefusal(
            try place.run("rotate", "Keys/app", "--emergency", "--dry-run", "--revoke=zzzz"), 66,
            saying: "no key's id begins with zzzz")
        #expect(try place.states("Keys/app", at: "2026-02-05T00:00:00Z") == ["primary", "pending"])
        let destroyed = SampleLifecycles.destroyed
        let kids = try place.writeKeyset("Keys/two", [destroyed, destroyed, SampleLifecycles.primary])
        let twins = try place.run("rotate", "Keys/two", "--emergency", "--dry-run", "--revoke=tomb")
        expectRefusal(twins, 64, saying: "tomb is short for \(kids[0]) and \(kids[1]): give more characters")
    }

    #if os(Linux)
    @Test(
        "a command that asks takes the first characters and asks with the whole id",
        .enabled(if: TerminalSession.isAvailable))
    func asks() throws {
        let session = try TerminalSession(
            "\"$PUSHCRYPT\" keys revoke Keys/app --at 2026-02-02T00:00:00Z -- \(pending.prefix(4))",
            in: place.folder.url,
            pushcrypt: CLI.binary().path)
        try session.wait(for: "revoking key \(pending) of Keys/app")
        try session.wait(for: "Type yes to go on: ")
        try session.type("yes\n")
        #expect(try session.exitStatus() == 0)
        #expect(try place.states("Keys/app", at: "2026-02-02T00:00:00Z") == ["primary", "revoked"])
    }
    #endif
}
