import PushCryptCore
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptKeysets

/// Written and read again. `KeysetLogVectorTests` has the files that another implementation wrote.
@Suite("Encrypted keysets")
struct EncryptedKeysetTests {
    private static let horse = SealedSample.passphrase()
    private static let other = SealedSample.passphrase("other horse")

    @Test(
        "A keyset with 1 to 8 secrets opens with each of them, and again after it was written with one of them",
        arguments: SealedSample.Shape.all, [1, 2, 8])
    func roundTrip(_ shape: SealedSample.Shape, _ count: Int) throws {
        let passphrases = (1...count).map { SealedSample.passphrase("passphrase \($0)") }
        let (log, material) = try SealedSample.keyset(shape, SealedSample.secrets(passphrases))
        let jwks = try material.jwks()
        let rows = try KeysetRows(material.file(log))
        #expect(rows.secrets == log.state.secrets)
        for secret in passphrases {
            let read = try rows.unlocked(secret)
            #expect(try read.jwks() == jwks)
            #expect(read.historyKey?.mac(of: log) == material.historyKey?.mac(of: log))
            let again = try KeysetRows(read.file(log))
            for secret in passphrases { #expect(try again.unlocked(secret).jwks() == jwks) }
        }
    }

    @Test("An encrypted keyset's file has no private JWK and no secret of one", arguments: SealedSample.Shape.all)
    func opaque(_ shape: SealedSample.Shape) throws {
        let (log, material) = try SealedSample.keyset(shape, SealedSample.secrets([Self.horse]))
        let text = String(decoding: try material.file(log), as: UTF8.self)
        for jwk in try material.jwks().values {
            let root = try JSONText(Array(jwk.utf8)).root
            let secrets = ["d", "k", "psk"].compactMap { root[$0]?.string }
            #expect(!secrets.isEmpty)
            for secret in secrets { #expect(!text.contains(secret)) }
        }
        #expect(!text.contains("\"d\""))
        #expect(throws: KeyError.self) { try Keyset(json: Array(text.utf8)) }
    }

    @Test("Each file has its own data key and nonces, also with the same keys and secrets")
    func fresh() throws {
        let (log, material) = try SealedSample.keyset(.all[0], SealedSample.secrets([Self.horse]))
        let files = try (0..<3).map { _ in try material.file(log) }
        for name in ["dataKey", "keys"] {
            // The first 12 bytes are the nonce.
            let nonces = try files.map { try SealedSample.sealed(name, of: $0).string?.prefix(16) }
            #expect(Set(nonces).count == 3)
        }
        let dataKeys = try files.map { file in
            let sealed = try #require(try SealedSample.sealed("dataKey", of: file).utf8.flatMap(Base64URL.decode))
            let key = try #require(material.secrets).key
            return try #require(try key.decrypt(sealed, aad: Array("pushcrypt/1 data key".utf8)))
        }
        #expect(Set(dataKeys).count == 3)
        let locks = try files.map { Array(try SealedSample.sealed("locks", of: $0).rawBytes) }
        #expect(Set(locks).count == 1)
        let again = try SealedSample.secrets([Self.horse])
        #expect(Set([again, try SealedSample.secrets([Self.horse])].map(\.entries.json)).count == 2)
    }

    @Test(
        "Each text is a passphrase, and one that differs from it by little is wrong",
        arguments: ["x", "päß wörd\u{301}\n", "a\0b", "correct horse", String(repeating: "long ", count: 900)])
    func passphrases(_ text: String) throws {
        let (log, material) = try SealedSample.keyset(
            .all[3], SealedSample.secrets([SealedSample.passphrase(text)]))
        let rows = try KeysetRows(material.file(log))
        #expect(try rows.unlocked(SealedSample.passphrase(text)).records.count == 1)
        for similar in [text + " ", text + "\n", text.uppercased() + "!", String(text.dropLast())] {
            let code = KeysetLogError.Code.thrown { try rows.unlocked(SealedSample.passphrase(similar)) }
            #expect(code == .wrongSecret, "\(similar)")
        }
    }

    @Test("A removed secret doesn't open the keyset, also not with the locks of the file before")
    func removed() throws {
        let (log, material) = try SealedSample.keyset(.all[3], SealedSample.secrets([Self.horse, Self.other]))
        let old = try material.file(log)
        var after = material
        after.secrets = try SealedSample.secrets([Self.horse])
        var changes = KeysetChanges()
        changes.secrets = after.secrets?.names
        let shorter = try log.appending(.secrets, at: log.state.at, who: "someone", changes)
        let new = try after.file(shorter)
        #expect(KeysetLogError.Code.thrown { try KeysetRows(new).unlocked(Self.other) } == .wrongSecret)
        let locks = try [new, old].map {
            String(decoding: try SealedSample.sealed("locks", of: $0).rawBytes, as: UTF8.self)
        }
        let forged = String(decoding: new, as: UTF8.self).replacing(locks[0], with: locks[1])
        let rows = try KeysetRows(Array(forged.utf8))
        for secret in [Self.horse, Self.other] {
            #expect(KeysetLogError.Code.thrown { try rows.unlocked(secret) } == .notAuthentic)
        }
    }

    @Test("A name or a passphrase that is there, and a ninth secret, are refused")
    func added() throws {
        var secrets = try SealedSample.secrets([Self.horse, Self.other])
        let add = { (name: String, text: String) in
            KeystoreError.Code.thrown {
                try secrets.add(SecretName(name)!, SealedSample.passphrase(text), SealedSample.cheap)
            }
        }
        #expect(add("s2", "a") == .alreadyExists)
        #expect(add("s3", "other horse") == .alreadyExists)
        for number in 3...8 { #expect(add("s\(number)", "\(number)") == nil) }
        #expect(add("s9", "9") == .cannotCreate)
        #expect(secrets.names.count == 8)
    }

    @Test("The secrets that stay when one is removed are found among those that are given, and the others are missing")
    func found() throws {
        let script = try HelperScript()
        let secrets = try SealedSample.secrets([Self.horse, Self.other, script.secret])
        let result = secrets.found(among: [Self.other, SealedSample.passphrase("none")], without: SecretName("s1")!)
        #expect(result.secrets.map(\.name.description) == ["s2"])
        #expect(result.missing.map(\.description) == ["s3"])
    }

    @Test(
        "A name has 1 to 64 letters, digits, full stops, underscores and hyphens",
        arguments: [
            ("a", true), (String(repeating: "a", count: 64), true), ("A.b_c-9", true), ("", false),
            (String(repeating: "a", count: 65), false), ("a b", false), ("é", false), ("a\"", false), ("a/b", false),
        ])
    func names(_ text: String, _ isValid: Bool) {
        #expect((SecretName(text) != nil) == isValid)
    }
}
