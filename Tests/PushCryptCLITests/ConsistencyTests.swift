import Foundation
import Testing

@testable import pushcrypt

/// What holds for every command.
@Suite("the commands are consistent", .ownThreads)
struct ConsistencyTests {
    @Test("every help page has an example of its command, with options that the command has")
    func examples() throws {
        for (path, command) in try DescribedCommand.all.get() {
            let examples = (command.discussion ?? "").matches(of: /Example: (?:sudo -u pushcrypt )?(pushcrypt [^\n]*)/)
                .map { String($0.1) }
            #expect(examples.contains { $0 == path || $0.hasPrefix(path + " ") }, "\(path)")
            let options = command.optionNames
            for example in examples {
                for option in example.matches(of: /\ --([a-z0-9-]+)/) {
                    #expect(options.contains(String(option.1)), "\(path): \(option.1)")
                }
            }
        }
    }

    @Test("every command accepts -q and --version, which only the help of pushcrypt has")
    func messages() throws {
        for (path, command) in try DescribedCommand.all.get() {
            #expect(command.optionNames.isSuperset(of: ["q", "no-notes"]), "\(path)")
            #expect(!command.optionNames.contains("version"), "\(path)")
        }
        #expect(try CLI.run(["demo", "--version"]).text.hasPrefix("pushcrypt "))
    }

    /// Why a command has no --json.
    private static let withoutJSON = [
        "demo": "it shows a person the steps of a push", "seal": "it prints JSON", "open": "it prints JSON",
        "reseal": "it prints JSON", "init": "it prints what a person does next", "blob seal": "it prints the blob",
        "blob open": "it writes a file and prints nothing", "keys create": "it prints the kid",
        "keys import": "it prints the kid", "keys export": "it prints keys", "keys destroy": "it prints one change",
        "keys secret add": "it prints one change", "keys secret set": "it prints one change",
        "keys secret remove": "it prints one change", "registrations": "its answers are JSON",
    ]

    @Test("every command that prints a result has --json, and docs/cli.md describes its output")
    func json() throws {
        let page = try String(contentsOf: Repository.root.appendingPathComponent("docs/cli.md"), encoding: .utf8)
        let start = try #require(page.range(of: "\n## JSON output\n")).upperBound
        let end = try #require(page.range(of: "\n## Commands\n")).lowerBound
        for (path, command) in try DescribedCommand.all.get() {
            let name = String(path.dropFirst("pushcrypt ".count))
            let hasJSON = command.optionNames.contains("json")
            #expect(hasJSON == (Self.withoutJSON[name] == nil), "\(name): add --json, or say why it has none")
            #expect(!hasJSON || page[start..<end].contains("`\(name)`"), "\(name): describe its JSON in docs/cli.md")
        }
    }

    @Test("an option whose value may begin with a dash accepts such a value")
    func dashes() throws {
        for (path, command) in try DescribedCommand.all.get() {
            for option in command.arguments ?? [] where option.kind == "option" {
                let mayBeginWithDash = ["KID", "HASH"].contains(option.valueName) || option.name == "--device"
                #expect(!mayBeginWithDash || option.parsingStrategy == "unconditional", "\(path) \(option.name)")
            }
        }
    }

    @Test("required options come before optional ones")
    func order() throws {
        for (path, command) in try DescribedCommand.all.get() {
            let options = (command.arguments ?? []).filter { $0.kind == "option" && $0.sectionTitle == nil }
            let lastRequired = options.lastIndex { !$0.isOptional } ?? -1
            #expect(options.prefix(lastRequired + 1).allSatisfy { !$0.isOptional }, "\(path)")
        }
    }

    @Test("pushcrypt --help groups the commands and documents the environment")
    func groups() throws {
        let root = try CLI.run(["--help"]).text
        for heading in ["PUSHES SUBCOMMANDS:", "EXAMINATION SUBCOMMANDS:", "KEYS SUBCOMMANDS:"] {
            #expect(root.contains("\n\(heading)\n"), "\(root)")
        }
        for name in [
            "PUSHCRYPT_SETTINGS", "PUSHCRYPT_KEYS", "PUSHCRYPT_TOPIC", "PUSHCRYPT_PASSPHRASE", "PUSHCRYPT_WRAP_COMMAND",
            "PUSHCRYPT_WRITER", "NO_COLOR", "TERM", "COLUMNS", "LC_ALL", "SUDO_USER",
        ] { #expect(root.contains(name), "\(name)") }
        #expect(try CLI.run(["keys", "--help"]).text.contains("\nCHANGE SUBCOMMANDS:\n"))
    }

    @Test("-q silences notes and no errors")
    func quiet() throws {
        let place = try Workplace()
        let create = ["keys", "create", "Keys/a", "--kind", "shared", "--overlap", "7d", "--insecure-plaintext"]
        #expect(try place.run(create + ["-q"]).isSuccess)
        expectRefusal(try place.run(create + ["-q"]), 73)
    }

    @Test("PUSHCRYPT_TOPIC and PUSHCRYPT_KEYS stand for --topic and the keystore; an argument overrides them")
    func environment() throws {
        let place = try Workplace()
        try place.create("Store/ios", "recipient")
        try place.write(Workplace.inner, to: "payload.json")
        let script = """
            export PUSHCRYPT_TOPIC=com.example.app PUSHCRYPT_KEYS=Store
            "$PUSHCRYPT" seal --to Store/ios < payload.json > sealed.json && "$PUSHCRYPT" open --keys Store/ios < sealed.json &&
            "$PUSHCRYPT" inspect --keys Store/ios sealed.json && "$PUSHCRYPT" inspect sealed.json && "$PUSHCRYPT" keys list &&
            "$PUSHCRYPT" diagnose --keys Store/ios sealed.json
            "$PUSHCRYPT" open --keys Store/ios --topic a.b < sealed.json; echo "status $?"
            """
        let output = try place.shell(script)
        #expect(output.text.contains("All clear.") && output.text.contains("Store/ios  "), "\(output)")
        #expect(output.text.hasSuffix("status 65\n"), "\(output)")
        #expect(output.stderr == "pushcrypt: not opened: undecryptable\(Output.undecryptable)\n", "\(output)")
        let without = try place.run("seal", "--to", "Store/ios", stdin: Workplace.inner)
        expectUsageError(without)
        #expect(without.stderr.contains("'--topic <TOPIC>', or the variable PUSHCRYPT_TOPIC"), "\(without)")
        let list = try place.run("keys", "list")
        #expect(list.exit == 66 && list.stderr.contains("Keys"), "\(list)")
    }
}
