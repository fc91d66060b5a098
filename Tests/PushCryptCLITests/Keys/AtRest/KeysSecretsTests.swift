import Foundation
import PushCryptCore
import PushCryptTestSupport
import Testing

/// Several secrets of one keyset, each of which opens it.
@Suite("keys secrets", .ownThreads)
struct KeysSecretsTests {
    private let encrypted: EncryptedPlace
    private var place: Workplace { encrypted.place }
    private static let adding: String = "keys secrets add Keys/ios --at \(Workplace.now)"
    private static let removing: String = "keys secrets remove Keys/ios --at \(Workplace.now)"

    init() throws {
        encrypted = try EncryptedPlace()
        try encrypted.create("Keys/ios", .sender)
    }

    private func list() throws -> String { try encrypted.runWithoutSecret("keys secrets list Keys/ios").text }

    @Test("keys doctor accepts a keyset with several secrets, and finds a member that no command reads in one of them")
    func doctor() throws {
        _ = try encrypted.run("\(Self.adding) --name kms --new-wrap-command 'sh kms' --first-name safe")
        let whole = try encrypted.runWithoutSecret("keys doctor Keys --json --at \(Workplace.now)").text
        #expect(!whole.contains("unknown-member"), "\(whole)")
        try place.edit("Keys/ios/keyset.json") {
            $0.replacing("\"name\": \"kms\"", with: "\"colour\": 1, \"name\": \"kms\"")
        }
        let edited = try encrypted.runWithoutSecret("keys doctor Keys --json --at \(Workplace.now)").text
        #expect(edited.contains("no command reads sealed.locks[1].colour"), "\(edited)")
    }

    @Test("after keys secrets add, each secret opens the keys, and each can change them")
    func add() throws {
        let exported = try encrypted.run("keys export Keys/ios").stdout
        #expect(try list() == "-  passphrase\n")
        let added = try encrypted.run("\(Self.adding) --name kms --new-wrap-command 'sh kms' --first-name safe")
        #expect(added.text == "changed the protection: added secret kms (external command)\n", "\(added)")
        let third = try encrypted.run("\(Self.adding) --name second --new-passphrase-file other", .command)
        #expect(third.text == "changed the protection: added secret second (passphrase)\n", "\(third)")
        #expect(try list() == "safe    passphrase\nkms     external command\nsecond  passphrase\n")
        for secret in ["--passphrase-file pass", "--wrap-command 'sh kms'", "--passphrase-file other"] {
            let output = try encrypted.runWithoutSecret("keys export Keys/ios \(secret)")
            #expect(Payload.replacing("\"seq\": 3", with: "\"seq\": 1", in: output.stdout) == exported, "\(output)")
        }
        for (secret, keep) in [("--passphrase-file other", 3), ("--wrap-command 'sh kms'", 4)] {
            let changed = try encrypted.runWithoutSecret(
                "keys policy Keys/ios --keep \(keep) \(secret) --at \(Workplace.now)")
            #expect(changed.isSuccess, "\(changed)")
        }
        #expect(try encrypted.runWithoutSecret("keys verify Keys/ios --passphrase-file pass").isSuccess)
    }

    @Test("a removed secret opens nothing, also not with the keyset key of an older copy; a wrong one names the others")
    func remove() throws {
        _ = try encrypted.run("\(Self.adding) --name kms --new-wrap-command 'sh kms' --first-name safe")
        _ = try encrypted.run("\(Self.adding) --name second --new-passphrase-file other")
        try encrypted.place.write(Data("wrong horse".utf8), to: "wrong")
        expectRefusal(
            try encrypted.runWithoutSecret("keys verify Keys/ios --passphrase-file wrong"), 77,
            saying: "the passphrase is wrong. The keyset has 3 secrets, each of which opens it: safe (passphrase), "
                + "kms (external command), second (passphrase)")
        let missing = try encrypted.run("\(Self.removing) --name second")
        expectRefusal(
            missing, 64,
            saying:
                "Keys/ios: the secret kms (external command) is needed too, because the keyset gets a new key that the "
                + "removed secret doesn't open: `pushcrypt keys secrets remove Keys/ios --name second --passphrase-file pass "
                + "--remaining-wrap-command COMMAND`")
        let removed = try encrypted.run("\(Self.removing) --name second --remaining-wrap-command 'sh kms'")
        #expect(removed.text == "changed the protection: removed secret second\n", "\(removed)")
        expectRefusal(
            try encrypted.runWithoutSecret("keys export Keys/ios --passphrase-file other"), 77,
            saying: "the passphrase is wrong")
        #expect(try encrypted.run("keys export Keys/ios").exit == 0)
        #expect(try encrypted.run("keys export Keys/ios", .command).exit == 0)
    }

    @Test("a lost secret is removed with the others, and the last one is stored as before")
    func lost() throws {
        _ = try encrypted.run("\(Self.adding) --name kms --new-wrap-command 'sh kms' --first-name safe")
        let removed = try encrypted.run("\(Self.removing) --name safe", .command)
        #expect(removed.text == "changed the protection: removed secret safe; one is left\n", "\(removed)")
        #expect(try list() == "-  external command\n")
        #expect(try Payload.member("sealed.v", of: place.read("Keys/ios/keyset.json")) as? Int == 1)
        #expect(try encrypted.run("keys verify Keys/ios", .command).isSuccess)
    }

    @Test(
        "keys secrets remove names every remaining secret that is missing; its command works with the files in place of FILE"
    )
    func missing() throws {
        let texts = ["second": "other horses", "third": "third horse", "fourth": "fourth horse"]
        for (name, text) in texts.sorted(by: { $0.key > $1.key }) {
            try place.write(Data(text.utf8), to: name)
            #expect(try encrypted.run("\(Self.adding) --name \(name) --new-passphrase-file \(name)").isSuccess)
        }
        let output = try encrypted.run("\(Self.removing) --name first --remaining-passphrase-file third", .file)
        expectRefusal(
            output, 64,
            saying:
                "Keys/ios: the secrets second (passphrase), fourth (passphrase) are needed too, because the keyset gets a "
                + "new key that the removed secret doesn't open: ")
        let command = try #require(output.stderr.firstMatch(of: /`pushcrypt (.*)`/)?.1)
        #expect(
            command
                == "keys secrets remove Keys/ios --name first --passphrase-file pass --remaining-passphrase-file third "
                + "--remaining-passphrase-file FILE --remaining-passphrase-file FILE")
        let given = command.split(separator: "FILE", omittingEmptySubsequences: false)
        let pasted = try encrypted.runWithoutSecret(given[0] + "second" + given[1] + "fourth --at \(Workplace.now)")
        #expect(pasted.isSuccess, "\(pasted)")
        #expect(try list() == "third   passphrase\nsecond  passphrase\nfourth  passphrase\n")
    }

    @Test("keys passwd asks before it replaces several secrets, which it names, and without a terminal changes nothing")
    func unconfirmedPasswd() throws {
        let passwd = "keys passwd Keys/ios --new-passphrase-file other --at \(Workplace.now)"
        _ = try encrypted.run("\(Self.adding) --name kms --new-wrap-command 'sh kms'")
        let before = try place.contents(of: "Keys")
        expectRefusal(
            try encrypted.run(passwd), 64,
            saying:
                "replacing all 2 secrets of Keys/ios: these no longer open it: first (passphrase), kms (external command); to "
                + "have a second one again: `pushcrypt keys secrets add Keys/ios --name NAME`. Nothing was changed; to confirm, "
                + "add --yes")
        #expect(try place.contents(of: "Keys") == before)
        #expect(
            try encrypted.run("\(passwd) --yes").stderr.contains("these no longer open it: first (passphrase), kms"))
        let single = try encrypted.runWithoutSecret(
            "keys passwd Keys/ios --passphrase-file other --new-passphrase-file pass --yes --at \(Workplace.now)")
        #expect(single.exit == 0 && single.stderr.contains("--yes has no effect"), "\(single)")
    }

    /// The note of --yes is printed after the secrets were read, and the new passphrase is read after it.
    @Test("a secret that is added after keys passwd has named the secrets to replace is kept, and nothing changes")
    func addedDuringPasswd() throws {
        _ = try encrypted.run("\(Self.adding) --name kms --new-wrap-command 'sh kms'")
        try place.write(Data("a third passphrase\n".utf8), to: "third")
        let output = try place.shell(
            """
            mkfifo new notes
            exec 5<>new
            "$PUSHCRYPT" keys passwd Keys/ios --at \(Workplace.now) --passphrase-file pass --yes --new-passphrase-fd 8 \
                5>&- 8<new 2>notes &
            exec 6<notes
            read -r first <&6
            "$PUSHCRYPT" \(Self.adding) --name third --new-passphrase-file third --passphrase-file pass >added 5>&- 6>&-
            cat other >&5
            exec 5>&-
            cat <&6 >&2
            wait $!
            """)
        #expect(output.exit == 75 && output.stdout.isEmpty, "\(output)")
        #expect(output.stderr.contains("Keys/ios: another command has changed its secrets since this one"), "\(output)")
        #expect(try list() == "first  passphrase\nkms    external command\nthird  passphrase\n")
    }

    @Test("keys passwd with --yes replaces all secrets and says so")
    func passwd() throws {
        _ = try encrypted.run("\(Self.adding) --name kms --new-wrap-command 'sh kms'")
        let output = try encrypted.run("keys passwd Keys/ios --new-passphrase-file other --yes --at \(Workplace.now)")
        #expect(output.text == "changed the protection: passphrase, instead of the secrets first, kms\n", "\(output)")
        #expect(try encrypted.run("keys export Keys/ios", .command).exit == 64)
        #expect(try encrypted.runWithoutSecret("keys export Keys/ios --passphrase-file other").isSuccess)
    }

    @Test(
        "a secret that can't be added or removed is refused and changes nothing",
        arguments: [
            ("\(Self.adding) --name first --new-passphrase-file other", 73, "has a secret named first"),
            ("\(Self.adding) --name second --new-passphrase-file pass", 73, "is that of the secret first"),
            ("\(Self.adding) --name 'a b' --new-passphrase-file other", 64, "--name"),
            ("\(Self.adding) --name second", 64, "--new-passphrase-file"),
            ("\(Self.adding) --name second --new-passphrase-file absent", 66, "absent"),
            (
                "\(Self.adding) --name second --new-passphrase-file other --new-wrap-command x", 64,
                "only one new secret"
            ),
            ("\(Self.adding) --name second --new-wrap-command false", 65, "failed to wrap: exit status 1"),
            ("\(Self.removing) --name first", 66, "only one secret, without a name"),
            ("keys secrets list Keys/none", 66, "Keys/none"),
        ] as [(String, Int32, String)])
    func refused(_ command: String, _ status: Int32, _ message: String) throws {
        let before = try place.contents(of: "Keys")
        let output = try command.contains(" list ") ? encrypted.runWithoutSecret(command) : encrypted.run(command)
        #expect(output.exit == status && output.stderr.contains(message), "\(output)")
        #expect(try place.contents(of: "Keys") == before)
    }

    @Test("a secret of a keyset with several that isn't there is refused with the names that are")
    func unknownName() throws {
        _ = try encrypted.run("\(Self.adding) --name kms --new-wrap-command 'sh kms'")
        let output = try encrypted.run("\(Self.removing) --name other")
        expectRefusal(output, 66, saying: "no secret named other; its secrets are first, kms")
    }

    @Test("a ninth secret is refused")
    func tooMany() throws {
        for number in 2...8 {
            let added = try encrypted.run("\(Self.adding) --name s\(number) --new-wrap-command 'sh kms'")
            #expect(added.isSuccess, "\(added)")
        }
        expectRefusal(
            try encrypted.run("\(Self.adding) --name s9 --new-wrap-command 'sh kms'"), 73, saying: "the highest number")
    }

    @Test("a plain keyset has no secret to add one to")
    func plain() throws {
        try place.create("Keys/plain", "sender")
        let output = try encrypted.runWithoutSecret(
            "keys secrets add Keys/plain --name second --new-passphrase-file other")
        expectRefusal(output, 65, saying: "use keys passwd")
        #expect(try encrypted.runWithoutSecret("keys secrets list Keys/plain").text == "the keys are not encrypted\n")
    }
}
