import Foundation
import PushCryptCore
import PushCryptTestSupport
import Testing

/// An attacker who can write the folder can replace the encrypted keyset with a plain one, which needs no secret.
@Suite("a plain keyset in the place of an encrypted one", .ownThreads)
struct ExchangedKeysetTests {
    private static let at = "--at \(Workplace.now)"
    private static let here = "--topic \(Workplace.topic) \(at)"

    /// KID is the keyset's key.
    static let commands = [
        "seal --to Keys/ios \(here)", "seal --to Keys/ios --sign-with Keys/other \(here)",
        "seal --to Keys/other --sign-with Keys/ios \(here)", "seal --batch --to Keys/ios \(here)",
        "open --keys Keys/ios \(here)", "open --batch --keys Keys/ios \(here)",
        "open --keys Keys/other --trust Keys/ios \(here)", "inspect --keys Keys/ios \(here)",
        "reseal --keys Keys/ios --errors refused \(here)",
        "reseal --keys Keys/shared --sign-with Keys/ios --errors refused \(here)",
        "rotate Keys/ios \(at)", "rotate Keys/ios --dry-run \(at)", "rotate Keys/ios --now \(at)",
        "rotate Keys/ios --emergency --revoke KID --yes \(at)",
        "rotate Keys/ios --emergency --revoke KID --dry-run \(at)",
        "keys verify Keys/ios \(at)", "keys log Keys/ios", "keys log Keys/ios --verify",
        "keys log Keys/ios --start-new --reason why --yes \(at)",
        "keys export Keys/ios", "keys export Keys/ios --registration",
        "keys export Keys/ios --signed-by Keys/other", "keys export Keys/other --pins-for Keys/ios",
        "keys add Keys/ios --force \(at)",
        "keys import Keys/ios --from jwk \(at)", "keys promote Keys/ios KID --yes \(at)",
        "keys retire Keys/ios KID --yes \(at)", "keys revoke Keys/ios KID --yes \(at)",
        "keys destroy Keys/ios KID --yes \(at)", "keys prune Keys/ios \(at)",
        "keys policy Keys/ios", "keys policy Keys/ios --keep 3 \(at)",
        "keys passwd Keys/ios --new-passphrase-file other \(at)", "keys passwd Keys/ios --insecure-plaintext \(at)",
    ]

    @Test("every command with a secret refuses the plain keyset and writes nothing", arguments: commands)
    func refused(_ command: String) throws {
        let place = try Self.exchanged.get().place()
        let encrypted = EncryptedPlace(place)
        let kid = try #require(try place.keys("Keys/ios", at: Workplace.now).first).kid
        let before = try place.contents(of: "Keys")
        for source in Self.sources(for: command) {
            let output = try encrypted.run(
                command.replacing("KID", with: kid), source, stdin: Workplace.inner)
            expectRefusal(
                output, 65, saying: "Keys/ios/keyset.json is not encrypted, though a passphrase or wrap")
        }
        #expect(try place.contents(of: "Keys") == before)
        #expect(!place.has("refused"))
    }

    /// The ways to give a secret that a command is tried with: each in turn, all of them in the long form. All commands
    /// read the secret in one place.
    private static func sources(for command: String) -> [EncryptedPlace.Source] {
        // The other keysets are encrypted with the passphrase.
        let needsPassphrase = command.contains(/Keys\/(other|shared)/)
        let sources = needsPassphrase ? EncryptedPlace.Source.ofPassphrases : EncryptedPlace.Source.allCases
        guard !LongTests.areEnabled, let index = commands.firstIndex(of: command) else { return sources }
        return [sources[index % sources.count]]
    }

    /// The log is broken, so that `--start-new` would start a new one.
    private static let exchanged = Result {
        let encrypted = try EncryptedPlace()
        try encrypted.place.create("Keys/ios", "recipient")
        try encrypted.place.edit("Keys/ios/audit.jsonl") { $0 + "{" }
        try encrypted.create("Keys/other", .recipient)
        try encrypted.create("Keys/shared", .shared)
        try encrypted.place.create("mine", "recipient")
        let jwk = try encrypted.runWithoutSecret("keys export mine --private --insecure-plaintext --format jwk \(at)")
        try encrypted.place.write(jwk.stdout, to: "jwk")
        return try PlaceSnapshot(encrypted.place)
    }

    /// A forged keyset needs no private keys.
    @Test(
        "commands with a secret also refuse a keyset of public keys, of demo keys and without keys",
        arguments: ["public", "demo", "empty"])
    func otherForgeries(_ forgery: String) throws {
        let encrypted = try EncryptedPlace()
        let place = encrypted.place
        try place.copyDemoKeys()
        try place.create("Keys/ios", "recipient")
        switch forgery {
        case "public":
            try place.edit("Keys/ios/keyset.json") { $0.replacing(/"d":"[^"]*",/, with: "") }
        case "demo": try place.write(place.read("Keys/demo/recipient/keyset.json"), to: "Keys/ios/keyset.json")
        default:
            let text = #"{"keys": [], "pushcrypt": {"seq": 1, "kind": "recipient", "keys": {}}}"#
            try place.write(Data(text.utf8), to: "Keys/ios/keyset.json")
        }
        let before = try place.contents(of: "Keys")
        for command in [
            "seal --to Keys/ios \(Self.here)", "keys export Keys/ios", "keys verify Keys/ios", "rotate Keys/ios",
            "rotate --all", "keys add Keys/ios --force \(Self.at)", "keys list Keys/ios",
        ] {
            let output = try encrypted.run(command, .environment, stdin: Workplace.inner)
            // A list needs no secret and says nothing about one.
            guard !command.hasPrefix("keys list") else { continue }
            expectRefusal(output, 65, saying: "Keys/ios/keyset.json is not encrypted")
        }
        #expect(try place.contents(of: "Keys") == before)
    }

    @Test("a plain keyset is used if no secret is given")
    func accepted() throws {
        let encrypted = try EncryptedPlace()
        try encrypted.place.create("Keys/ios", "recipient")
        let sealed = try encrypted.place.seal(to: "Keys/ios")
        #expect(sealed.isSuccess, "\(sealed)")
    }

    @Test("rotate --all refuses the plain keyset and rotates the others", arguments: ["--now", ""])
    func several(_ option: String) throws {
        let encrypted = try EncryptedPlace()
        try encrypted.place.create("Keys/a", "sender")
        try encrypted.create("Keys/b", .sender)
        let output = try encrypted.run("rotate --all \(option) \(Self.at)")
        #expect(output.exit == 65 && output.stderr.contains("Keys/a/keyset.json"), "\(output)")
        #expect(try Payload.member("pushcrypt.seq", of: encrypted.place.read("Keys/a/keyset.json")) as? Int == 1)
        let sequence = try Payload.member("pushcrypt.seq", of: encrypted.place.read("Keys/b/keyset.json")) as? Int
        #expect(sequence == (option.isEmpty ? 1 : 2))
    }

    @Test("--allow-demo-keys accepts the demo keys although a secret is given")
    func demo() throws {
        let encrypted = try EncryptedPlace()
        try encrypted.place.copyDemoKeys()
        let output = try encrypted.run(
            "seal --to Keys/demo/recipient --allow-demo-keys --topic a.b", .environment, stdin: Workplace.inner)
        #expect(output.isSuccess, "\(output)")
    }
}
