import PushCryptCore
import PushCryptKeystore
import PushCryptPrimitives
import Testing

@testable import PushCryptKeysets

/// Keysets with several secrets, version 2 of the encryption at rest.
@Suite("Keysets with several secrets")
struct SeveralSecretsTests {
    private static let first = SecretName("first")!
    private static let second = SecretName("second")!
    private static let other = SealedSample.passphrase("other horse")

    private static func keyset() throws -> StoredKeyset {
        var stored = try SealedSample.keyset()
        stored.secrets = try KeysetSecrets(
            [(first, SealedSample.passphrase()), (second, other)], SealedSample.cheap)
        stored.protection = stored.secrets!.protection
        return stored
    }

    private static func text() throws -> EditedText { EditedText(try keyset().fileText()) }

    @Test("each secret opens the keys, and the file can be written again with either")
    func roundTrip() throws {
        let stored = try Self.keyset()
        let text = EditedText(try stored.fileText())
        for secret in [SealedSample.passphrase(), Self.other] {
            let read = try text.unlocked(secret)
            #expect(try read.jwks() == stored.jwks())
            #expect(read.protection == stored.protection)
            let again = EditedText(try read.fileText())
            #expect(try again.unlocked().jwks() == stored.jwks())
            #expect(try again.unlocked(Self.other).jwks() == stored.jwks())
            #expect(try again.value("sealed.locks") == text.value("sealed.locks"))
            #expect(try again.value("sealed.dataKey") != text.value("sealed.dataKey"))
        }
    }

    @Test("a passphrase that is none of the secrets is wrong, and a command is refused")
    func wrongSecret() throws {
        let text = try Self.text()
        #expect(KeystoreError.Code.thrown { try text.unlocked(SealedSample.passphrase("red horse")) } == .wrongSecret)
        #expect(KeystoreError.Code.thrown { try text.unlocked(.command("true")) } == .secretNeeded)
    }

    @Test("a removed secret doesn't open the keyset, and not with the keyset key of the file before")
    func removed() throws {
        let before = try Self.keyset()
        var after = before
        let remaining = try #require(before.secrets).remaining(
            without: Self.second, [SealedSample.passphrase()], "keyset.json", command: "")
        let new = (name: Self.second, secret: SealedSample.passphrase("new"))
        after.secrets = try KeysetSecrets(remaining + [new], SealedSample.cheap)
        after.protection = after.secrets!.protection
        let text = EditedText(try after.fileText())
        #expect(KeystoreError.Code.thrown { try text.unlocked(Self.other) } == .wrongSecret)
        // A user with the removed secret and the old file puts the old secrets into the new file.
        let locks = try EditedText(before.fileText()).value("sealed.locks")
        let forged = try text.setting("sealed.locks", to: locks).withDigest()
        #expect(KeystoreError.Code.thrown { try forged.unlocked(Self.other) } == .damaged)
    }

    @Test("a file with a flipped bit is refused with each secret", arguments: 0..<8)
    func flips(_ shift: Int) throws {
        let text = try Self.text().withoutDigest()
        for index in stride(from: shift, to: text.bytes.count, by: 8) {
            var bytes = text.bytes
            bytes[index] ^= 1 << UInt8((index / 8 + shift) % 8)
            for secret in [SealedSample.passphrase(), Self.other] {
                do {
                    _ = try KeysetFile(bytes, path: "keyset.json").unlocked(SecretSource(secret))
                    Issue.record("byte \(index) of \(text.text)")
                } catch {
                    #expect(error is KeyError || error is KeystoreError, "\(error)")
                }
            }
        }
    }

    /// Otherwise an operator would remove the wrong secret.
    @Test("a file in which two names are exchanged, or a secret is missing, is refused")
    func edits() throws {
        let text = try Self.text()
        let exchanged = EditedText(
            text.text.replacing("\"first\"", with: "\"x\"").replacing("\"second\"", with: "\"first\"")
                .replacing("\"x\"", with: "\"second\""))
        #expect(KeystoreError.Code.thrown { try exchanged.withDigest().unlocked() } == .damaged)
        var three = try Self.keyset()
        try three.secrets?.add(SecretName("third")!, SealedSample.passphrase("3"), SealedSample.cheap)
        three.protection = three.secrets!.protection
        let whole = EditedText(try three.fileText())
        let locks = try whole.find("sealed.locks").elements.map { String(decoding: $0.rawBytes, as: UTF8.self) }
        let shorter = try whole.setting("sealed.locks", to: "[\(locks[0]), \(locks[1])]").withDigest()
        #expect(KeystoreError.Code.thrown { try shorter.unlocked() } == .damaged)
    }

    @Test(
        "secrets that aren't 2 to 8 with different names and one lock each are malformed",
        arguments: [
            ("[]", nil), ("1", nil), (nil, #""name": "fi rst""#), (nil, #""name": """#), (nil, #""name": "second""#),
            (nil, #""name": 1"#), (nil, #""name": "first", "command": true"#),
        ] as [(String?, String?)])
    func malformed(_ locks: String?, _ name: String?) throws {
        let text = try Self.text()
        let changed =
            try locks.map { try text.setting("sealed.locks", to: $0) }
            ?? EditedText(text.text.replacing(#""name": "first""#, with: name!))
        #expect(KeyError.Code.thrown { try changed.withDigest().file() } == .malformed)
    }

    @Test("a name or a passphrase that is there, and a ninth secret, are refused")
    func refused() throws {
        var secrets = try #require(Self.keyset().secrets)
        let add = { (name: SecretName, text: String) in
            KeystoreError.Code.thrown { try secrets.add(name, SealedSample.passphrase(text), SealedSample.cheap) }
        }
        #expect(add(Self.second, "a") == .alreadyExists)
        #expect(add(SecretName("third")!, "other horse") == .alreadyExists)
        for number in 3...8 { #expect(add(SecretName("s\(number)")!, "\(number)") == nil) }
        #expect(add(SecretName("s9")!, "9") == .cannotCreate)
    }

    @Test(
        "a name has 1 to 64 letters, digits, full stops, underscores and hyphens",
        arguments: [
            ("a", true), (String(repeating: "a", count: 64), true), ("A.b_c-9", true), ("", false),
            (String(repeating: "a", count: 65), false), ("a b", false), ("é", false), ("a\"", false), ("a/b", false),
        ])
    func names(_ text: String, _ isValid: Bool) {
        #expect((SecretName(text) != nil) == isValid)
    }
}
