import Foundation
import PushCryptCore
import PushCryptTestSupport
import Testing

@Suite("keys passwd", .ownThreads)
struct KeysPasswdTests {
    private let encrypted: EncryptedPlace
    private var place: Workplace { encrypted.place }
    private static let passwd = "keys passwd Keys/ios --at \(Workplace.now)"

    init() throws {
        encrypted = try EncryptedPlace()
    }

    @Test(
        "keys passwd changes passphrase and scrypt parameters and keeps the keys",
        arguments: EncryptedPlace.Source.ofPassphrases)
    func passphrase(_ source: EncryptedPlace.Source) throws {
        try encrypted.create("Keys/ios", .recipient)
        let exported = try encrypted.run("keys export Keys/ios").stdout
        let output = try encrypted.run("\(Self.passwd) --new-passphrase-file other --reason yearly", source)
        #expect(output.isSuccess && output.text == "changed the protection: passphrase\n", "\(output)")
        #expect(try encrypted.cost("Keys/ios") == 131_072)
        let log = String(decoding: try place.read("Keys/ios/audit.jsonl"), as: UTF8.self)
        #expect(log.contains("protectionChanged") && log.contains("yearly") && !log.contains("horse"))
        // The source of the old passphrase doesn't matter any more, and each of these commands takes half a second.
        guard source == .file || LongTests.areEnabled else { return }
        expectRefusal(try encrypted.run("keys export Keys/ios"), 77, saying: "the passphrase is wrong")
        let after = try encrypted.runWithoutSecret("keys export Keys/ios --passphrase-file other")
        #expect(Payload.replacing("\"seq\": 2", with: "\"seq\": 1", in: after.stdout) == exported, "\(after)")
    }

    @Test("keys passwd reads both passphrases from two descriptors, not from one")
    func descriptors() throws {
        try encrypted.create("Keys/ios", .sender)
        let same = "\(Self.passwd) --passphrase-fd 7 --new-passphrase-fd 7 7<pass"
        expectRefusal(try encrypted.runWithoutSecret(same), 64, saying: "descriptor 7 is empty")
        let two = "\(Self.passwd) --passphrase-fd 7 --new-passphrase-fd 8 7<pass 8<other"
        #expect(try encrypted.runWithoutSecret(two).isSuccess)
        #expect(try encrypted.runWithoutSecret("keys export Keys/ios --passphrase-file other").isSuccess)
    }

    @Test("keys passwd with the same passphrase succeeds and says that the passphrase is the old one")
    func samePassphrase() throws {
        try encrypted.create("Keys/ios", .shared)
        let same = try encrypted.runWithoutSecret("\(Self.passwd) --passphrase-file pass --new-passphrase-file pass")
        #expect(same.exit == 0 && same.stderr.contains("the new passphrase is the old one"), "\(same)")
        let other = try encrypted.runWithoutSecret("\(Self.passwd) --passphrase-file pass --new-passphrase-file other")
        #expect(other.exit == 0 && !other.stderr.contains("is the old one"), "\(other)")
    }

    @Test("keys passwd changes a passphrase to a command, to plain text and back")
    func protections() throws {
        try encrypted.create("Keys/ios", .shared)
        let secrets = try encrypted.secrets(of: "Keys/ios")
        #expect(secrets.count == 1)
        let toCommand = try encrypted.run("\(Self.passwd) --new-wrap-command 'sh kms'", .environment)
        #expect(toCommand.text == "changed the protection: external command\n", "\(toCommand)")
        #expect(try encrypted.secrets(of: "Keys/ios", .command) == secrets)
        let toPlain = try encrypted.run("\(Self.passwd) --insecure-plaintext", .commandInEnvironment)
        #expect(toPlain.text == "changed the protection: plain text\n", "\(toPlain)")
        #expect(try place.secrets(in: "Keys/ios/keyset.json") == secrets)
        let back = try encrypted.runWithoutSecret("\(Self.passwd) --new-passphrase-file pass")
        #expect(back.text == "changed the protection: passphrase\n", "\(back)")
        #expect(try encrypted.secrets(of: "Keys/ios") == secrets)
    }

    @Test(
        "keys passwd requires exactly one new secret from the --new options",
        arguments: [
            ("", "use --new-passphrase-file, --new-passphrase-fd or --new-wrap-command"),
            ("--new-passphrase-file other --insecure-plaintext", "can't be combined"),
            ("--new-passphrase-file other --new-wrap-command true", "only one new secret"),
            ("--new-passphrase-fd 7 --new-passphrase-file other", "only one new secret"),
            ("--new-passphrase-file none", "none"), ("--new-wrap-command ''", "empty"),
            ("--new-wrap-command false", "failed to wrap: exit status 1"),
        ])
    func refusals(_ options: String, _ words: String) throws {
        try encrypted.create("Keys/ios", .sender)
        let before = try encrypted.everything(in: "Keys")
        for source in [EncryptedPlace.Source.file, .environment] {
            let output = try encrypted.run("\(Self.passwd) \(options)", source)
            #expect(output.exit != 0 && output.stdout.isEmpty, "\(output)")
            #expect(output.stderr.contains(words), "\(output)")
        }
        #expect(try encrypted.everything(in: "Keys") == before)
    }

    /// An operator who may encrypt at the KMS but not decrypt would lose the keys.
    @Test("keys passwd refuses a command that can't unwrap what it wrapped")
    func oneWay() throws {
        try encrypted.create("Keys/ios", .sender)
        let before = try encrypted.everything(in: "Keys")
        try place.write(
            Data("case $1 in wrap) sh kms wrap;; *) echo 'no permission' >&2; exit 5;; esac".utf8), to: "half")
        let output = try encrypted.run("\(Self.passwd) --new-wrap-command 'sh half'")
        #expect(output.exit == 65 && output.stdout.isEmpty, "\(output)")
        #expect(output.stderr.contains("no permission\n") && output.stderr.contains("failed to unwrap: exit status 5"))
        #expect(try encrypted.everything(in: "Keys") == before)
    }
}
