import Foundation
import PushCryptCore
import PushCryptKeysets
import PushCryptTestSupport
import Testing

/// Several secrets of one keyset, each of which opens it.
@Suite("keys secret", .ownThreads)
struct KeysSecretTests {
    private let encrypted: EncryptedPlace
    private var place: Workplace { encrypted.place }

    init() throws {
        encrypted = try EncryptedPlace()
        try encrypted.create("Keys/ios", .sender)
    }

    private static let at = "--at \(Workplace.now)"

    private func secret(_ words: String, _ source: EncryptedPlace.Source = .file) throws -> Output {
        try encrypted.run("keys secret \(words) \(Self.at)", source)
    }

    private func opens(_ secret: String) throws -> Int32? {
        try encrypted.runWithoutSecret("keys export Keys/ios \(secret)").exit
    }

    private func list() throws -> String { try encrypted.runWithoutSecret("keys secret list Keys/ios").text }

    private static let (pass, kms, other) = (
        "--passphrase-file pass", "--wrap-command 'sh kms'", "--passphrase-file other"
    )

    @Test("each secret that was added opens the keys and can change them; the log has the names")
    func add() throws {
        #expect(try list() == "passphrase (passphrase)\n")
        #expect(try secret("add Keys/ios --name kms --new-wrap-command 'sh kms'").exit == 0)
        #expect(try secret("add Keys/ios --name second --new-passphrase-file other", .command).exit == 0)
        #expect(try list() == "passphrase (passphrase), kms (external command), second (passphrase)\n")
        for (secret, keep) in [(Self.pass, 3), (Self.kms, 4), (Self.other, 5)] {
            #expect(try opens(secret) == 0)
            let changed = try encrypted.runWithoutSecret("keys policy Keys/ios --keep \(keep) \(secret) \(Self.at)")
            #expect(changed.exit == 0, "\(changed)")
        }
        #expect(try place.log("Keys/ios").state.secrets.map(\.description) == ["passphrase", "kms", "second"])
    }

    @Test("a removed secret opens nothing, and each remaining one is needed for it")
    func remove() throws {
        #expect(try secret("add Keys/ios --name kms --new-wrap-command 'sh kms'").exit == 0)
        #expect(try secret("add Keys/ios --name second --new-passphrase-file other").exit == 0)
        let before = try place.read("Keys/ios.keyset")
        let missing = try secret("remove Keys/ios --name second")
        #expect(missing.exit == 64 && missing.stderr.contains("Missing: kms"), "\(missing)")
        #expect(try place.read("Keys/ios.keyset") == before)
        let removed = try secret("remove Keys/ios --name second --remaining-wrap-command 'sh kms'")
        #expect(removed.exit == 0, "\(removed)")
        #expect(try opens(Self.other) == 77)
        #expect(try opens(Self.pass) == 0 && opens(Self.kms) == 0)
        // A lost one is removed with another one.
        #expect(try secret("remove Keys/ios --name passphrase", .command).exit == 0)
        #expect(try list() == "kms (external command)\n" && opens(Self.pass) == 64)
        let last = try secret("remove Keys/ios --name kms", .command)
        #expect(last.exit == 64 && last.stderr.contains("keys secret set Keys/ios.keyset --insecure-plaintext"))
    }

    @Test("set replaces a secret, also by one of the other kind, and the others stay")
    func set() throws {
        #expect(try secret("set Keys/ios --new-passphrase-file other").exit == 0)
        #expect(try opens(Self.pass) == 77 && opens(Self.other) == 0)
        let added = try encrypted.runWithoutSecret(
            "keys secret add Keys/ios --name kms --new-wrap-command 'sh kms' \(Self.other) \(Self.at)")
        #expect(added.exit == 0, "\(added)")
        let unnamed = try secret("set Keys/ios --new-passphrase-file pass", .command)
        #expect(unnamed.exit == 64 && unnamed.stderr.contains("use --name with one of passphrase, kms"), "\(unnamed)")
        let replaced = try secret(
            "set Keys/ios --name kms --new-passphrase-file pass --remaining-passphrase-file other", .command)
        #expect(replaced.exit == 0, "\(replaced)")
        #expect(try opens(Self.kms) == 64 && opens(Self.pass) == 0 && opens(Self.other) == 0)
    }

    @Test("keys in clear get a first secret, and lose all only with --insecure-plaintext")
    func clear() throws {
        let removed = try secret("set Keys/ios --insecure-plaintext")
        #expect(removed.exit == 0 && removed.text.contains("in clear from now on"), "\(removed)")
        #expect(try encrypted.isInClear("Keys/ios") && place.log("Keys/ios").state.secrets.isEmpty)
        #expect(try list() == "the keys are not encrypted\n" && opens("") == 0)
        let refused = try secret("add Keys/ios --name x --new-passphrase-file other")
        #expect(refused.exit == 65 && refused.stderr.contains("isn't encrypted"), "\(refused)")
        let added = try encrypted.runWithoutSecret(
            "keys secret add Keys/ios --name x --new-passphrase-file other \(Self.at)")
        #expect(added.exit == 0, "\(added)")
        #expect(try !encrypted.isInClear("Keys/ios") && opens(Self.other) == 0)
    }

    @Test(
        "a change that isn't possible is refused and changes nothing",
        arguments: [
            ("add Keys/ios --name passphrase --new-passphrase-file other", 73, "has a secret named passphrase"),
            ("add Keys/ios --name second --new-passphrase-file pass", 73, "is that of the secret passphrase"),
            ("add Keys/ios --name second", 64, "--new-passphrase-file"),
            ("add Keys/ios --name second --new-passphrase-file absent", 66, "absent"),
            ("add Keys/ios --name second --new-wrap-command false", 65, "failed to wrap: exit status 1"),
            ("set Keys/ios --name none --new-passphrase-file other", 66, "no secret named none; it has passphrase"),
            ("add --name x", 64, "keysets or --all"), ("list --all", 64, "the settings have no such keysets"),
        ] as [(String, Int32, String)])
    func refused(_ words: String, _ status: Int32, _ message: String) throws {
        let before = try place.contents(of: "Keys")
        let output = try words.hasPrefix("list") ? encrypted.runWithoutSecret("keys secret \(words)") : secret(words)
        #expect(output.exit == status && output.stderr.contains(message), "\(output)")
        #expect(try place.contents(of: "Keys") == before)
    }

    @Test("--all changes the keysets that the settings' common secret opens, and no other one")
    func all() throws {
        let host = try KeystorePlace.empty()
        let made = try host.initialise("--sender", "senders", "--shared", "fleet", "--yes")
        try #require(made.exit == 0, "\(made)")
        try host.place.write(Data("other horse\n".utf8), to: "other")
        let added = try host.succeed(
            "keys", "secret", "add", "--all", "--name", "safe", "--new-passphrase-file", "other")
        #expect(added.text.split(separator: "\n").count == 2, "\(added)")
        for (path, names) in [
            ("a/Keys/senders", ["passphrase", "safe"]), ("a/Keys/fleet", ["passphrase", "safe"]),
            ("a/Publisher/app", ["passphrase"]),
        ] {
            #expect(try host.place.log(path).state.secrets.map(\.description) == names, "\(path)")
        }
        try host.expectHealthy(day: 1)
    }
}
