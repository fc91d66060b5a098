import ArgumentParser
import Foundation
import RegexBuilder
import Testing

@testable import pushcrypt

@Suite("help", .ownThreads)
struct HelpTests {
    @Test(
        "help is printed on stdout with exit status 0",
        arguments: [
            ["--help"], ["-h"], ["help"], ["keys", "--help"], ["help", "keys", "create"], ["keys", "export", "-h"],
        ])
    func help(_ arguments: [String]) throws {
        let output = try CLI.run(arguments)
        #expect(output.isSuccess, "\(output)")
        #expect(output.text.hasPrefix("OVERVIEW: "))
        #expect(output.text.contains("USAGE: pushcrypt"))
    }

    @Test("pushcrypt --help lists the exit statuses and the commands")
    func statuses() throws {
        let text = try CLI.run(["--help"]).text
        let unbroken = text.replacing("\n", with: " ")
        for words in [
            "0 done", "10 ", "64 ", "65 ", "66 ", "70 ", "73 ", "74 ", "75 ", "77 ", "78 ", "TIME", "DURATION",
        ] {
            #expect(unbroken.contains(words), "\(words)")
        }
        for command in ["demo", "seal", "open", "inspect", "blob", "init", "keys", "rotate", "restore", "status"] {
            #expect(text.contains("\n  \(command) "), "\(command)")
        }
    }

    @Test("--version prints the version, that a plain build knows no commit, and the libraries with their origin")
    func version() throws {
        let output = try CLI.run(["--version"])
        #expect(output.isSuccess, "\(output)")
        let library = #/\d+\.\d+\.\d+.*, the system's/#
        let expected = Regex {
            #/pushcrypt \d+\.\d+\.\d+\ncommit unknown: a development build\nOpenSSL /#
            library
            #/\nsuites 1, 2, (3, 4|4 \(3, xwing, needs OpenSSL 3\.5\))\nSQLite /#
            library
            "\n"
        }
        #expect(output.text.wholeMatch(of: expected) != nil, "\(output)")
    }

    @Test("each command has its name in its configuration: to make one from the type takes a twentieth of the start")
    func names() {
        var unnamed: [String] = []
        var count = 0
        func visit(_ command: any ParsableCommand.Type) {
            count += 1
            if command.configuration.commandName == nil { unnamed.append("\(command)") }
            command.configuration.subcommands.forEach(visit)
        }
        visit(PushCrypt.self)
        #expect(unnamed.isEmpty)
        #expect(count >= 30)
    }
}

@Suite("shell completions", .ownThreads)
struct CompletionTests {
    @Test("the tool prints a completion script for each shell", arguments: ["bash", "zsh", "fish"])
    func script(_ shell: String) throws {
        let place = try Workplace()
        let output = try place.run("--generate-completion-script", shell)
        #expect(output.isSuccess, "\(output)")
        for word in ["rotate", "reseal", "dry-run", "keys", "restore", "blob", "self-test"] {
            #expect(output.text.contains(word), "\(word)")
        }
    }

    @Test("bash can parse its completion script")
    func bash() throws {
        let place = try Workplace()
        let output = try place.shell(#""$PUSHCRYPT" --generate-completion-script bash >c && bash -n c"#)
        #expect(output.isSuccess, "\(output)")
    }
}
