#if os(Linux)
import Foundation
import PushCryptCore
import PushCryptTestSupport
import Glibc
import Testing

@Suite(
    "the prompt for a passphrase", .ownThreads, .enabled(if: TerminalSession.isAvailable, "no pseudo-terminals here"))
struct PromptTests {
    private let encrypted: EncryptedPlace
    private var place: Workplace { encrypted.place }
    private static let passphrase = "Pa\u{df} w\u{f6}rd!"

    init() throws {
        encrypted = try EncryptedPlace()
    }

    private func terminal(_ script: String) throws -> TerminalSession {
        try TerminalSession(script, in: place)
    }

    /// Creates and uses a keyset without showing the passphrase.
    @Test("a passphrase typed twice encrypts and opens the keyset, and is never shown")
    func roundTrip() throws {
        let terminal = try terminal(
            "\"$PUSHCRYPT\" keys create Keys/ios --kind sender && \"$PUSHCRYPT\" keys export Keys/ios")
        for prompt in ["New passphrase: ", "The same again: ", "Passphrase of Keys/ios.keyset: "] {
            try terminal.wait(for: prompt)
            #expect(try terminal.localFlags() & tcflag_t(ECHO | ICANON | ISIG) == 0)
            try terminal.type(Self.passphrase + "\r")
        }
        #expect(try terminal.exitStatus() == 0)
        #expect(!terminal.screen.contains("rd!") && !terminal.screen.contains("Pa\u{df}"), "\(terminal.screen)")
        #expect(terminal.screen.contains("\"crv\":\"Ed25519\""))
        let output = try place.shell("PUSHCRYPT_PASSPHRASE='\(Self.passphrase)' \"$PUSHCRYPT\" keys export Keys/ios")
        #expect(output.isSuccess, "\(output)")
    }

    @Test("a plain keyset that is put in place of the encrypted one after the question is refused")
    func exchanged() throws {
        try encrypted.create("Keys/ios", .sender)
        try place.create("Keys/other", "sender")
        let terminal = try terminal("\"$PUSHCRYPT\" keys secret set Keys/ios --new-passphrase-file other")
        try terminal.wait(for: "Passphrase of Keys/ios.keyset: ")
        _ = try place.shell("mv Keys/other.keyset Keys/ios.keyset")
        let plain = try place.read("Keys/ios.keyset")
        try terminal.type("correct horse\r")
        #expect(try terminal.exitStatus() == 65, "\(terminal.screen)")
        #expect(try place.read("Keys/ios.keyset") == plain)
    }

    /// Typed characters and the resulting passphrase: corrections, an erased line, a control character.
    @Test(
        "editing keys correct a typed passphrase",
        arguments: [
            "correct hirse\u{7f}\u{7f}\u{7f}\u{7f}orse\n", "corrext\u{8}\u{8}ct horse\n", "wrong\u{15}correct horse\n",
            "correct hors\u{f6}\u{7f}e\n", "correct hors\u{1f511}\u{7f}e\r", "\u{7f}correct\u{1a} \u{1b}horse\n",
        ])
    func corrections(_ typed: String) throws {
        try encrypted.create("Keys/ios", .sender)
        let terminal = try terminal("\"$PUSHCRYPT\" keys export Keys/ios >exported")
        try terminal.wait(for: "Passphrase of Keys/ios.keyset: ")
        try terminal.type(typed)
        #expect(try terminal.exitStatus() == 0, "\(terminal.screen)")
        #expect(try !place.read("exported").isEmpty)
    }

    /// A shell reports SIGINT as 130, and a loop around the command ends too.
    @Test("Ctrl-C at the prompt interrupts the command and restores the terminal", arguments: ["\u{3}", "half\u{3}"])
    func interrupt(_ typed: String) throws {
        let terminal = try terminal("echo ready; read x; \"$PUSHCRYPT\" keys create Keys/ios --kind sender")
        try terminal.wait(for: "ready")
        let before = try terminal.localFlags()
        #expect(before & tcflag_t(ECHO | ICANON | ISIG) == tcflag_t(ECHO | ICANON | ISIG))
        try terminal.type("\n")
        try terminal.wait(for: "New passphrase: ")
        #expect(try terminal.localFlags() != before)
        try terminal.type(typed)
        #expect(try terminal.exitStatus() == 130)
        #expect(try terminal.localFlags() == before)
        #expect(!terminal.screen.contains("half"))
        #expect(try !place.names().contains("Keys"))
    }

    @Test(
        "a missing, empty, too long or wrong passphrase at the prompt ends the command",
        arguments: [
            ("\u{4}", "no passphrase was typed"), ("abc\u{4}", "no passphrase was typed"),
            ("\n", "the passphrase from the terminal is empty"),
            (String(repeating: "x", count: 1_025), "the passphrase is too long"),
            ("wrong\n", "the passphrase is wrong"),
        ])
    func failures(_ typed: String, _ words: String) throws {
        try encrypted.create("Keys/ios", .sender)
        let terminal = try terminal("\"$PUSHCRYPT\" keys export Keys/ios")
        try terminal.wait(for: "Passphrase of Keys/ios.keyset: ")
        try terminal.type(typed)
        #expect(try terminal.exitStatus() == (typed == "wrong\n" ? 77 : 64))
        #expect(terminal.screen.contains(words), "\(terminal.screen)")
        let flags = tcflag_t(ECHO | ICANON | ISIG)
        #expect(try terminal.localFlags() & flags == flags)
    }

    @Test("the passphrase is asked for on the terminal while stdin and stdout are files")
    func redirected() throws {
        try encrypted.create("Keys/ios", .recipient)
        try place.write(Workplace.inner, to: "inner")
        let terminal = try terminal(
            "\"$PUSHCRYPT\" seal --bare --to Keys/ios --topic a.b --at \(Workplace.now) <inner >sealed")
        try terminal.wait(for: "Passphrase of Keys/ios")
        try terminal.type(EncryptedPlace.passphrase + "\n")
        #expect(try terminal.exitStatus() == 0)
        #expect(try Payload.string("pushcrypt.sealed", of: place.read("sealed")) != nil)
    }

    @Test("no passphrase is asked for if stderr is a file")
    func silent() throws {
        try encrypted.create("Keys/ios", .sender)
        let terminal = try terminal("\"$PUSHCRYPT\" keys export Keys/ios 2>words")
        #expect(try terminal.exitStatus() == 64)
        #expect(String(decoding: try place.read("words"), as: UTF8.self).contains("Keys/ios.keyset is encrypted: "))
    }

    @Test("each keyset is asked for once, because a publisher has another passphrase; the new one is typed twice")
    func each() throws {
        for name in ["a", "b"] { try encrypted.create("Keys/\(name)", .sender) }
        let terminal = try terminal(
            "\"$PUSHCRYPT\" keys secret add Keys/a Keys/b --name safe --at \(Workplace.now)")
        for (prompt, text) in [
            ("Passphrase of Keys/a.keyset: ", EncryptedPlace.passphrase),
            ("New passphrase: ", EncryptedPlace.otherPassphrase),
            ("The same again: ", EncryptedPlace.otherPassphrase),
            ("Passphrase of Keys/b.keyset: ", EncryptedPlace.passphrase),
        ] {
            try terminal.wait(for: prompt)
            try terminal.type(text + "\n")
        }
        #expect(try terminal.exitStatus() == 0, "\(terminal.screen)")
    }

    /// The helper may ask for a PIN on the terminal: it is in the foreground process group.
    @Test("a wrap command can ask for input on the terminal")
    func helper() throws {
        try encrypted.create("Keys/ios", .sender, isCommand: true)
        try place.write(
            Data("printf PIN: >/dev/tty; read pin </dev/tty; test \"$pin\" = 1234 && sh kms \"$1\"".utf8), to: "hsm")
        let terminal = try terminal("\"$PUSHCRYPT\" keys export Keys/ios --wrap-command 'sh hsm'")
        try terminal.wait(for: "PIN:")
        try terminal.type("1234\n")
        #expect(try terminal.exitStatus() == 0, "\(terminal.screen)")
    }
}
#endif
