import PushCryptCore
import PushCryptKeysets
import PushCryptKeystore
import PushCryptOpenSSL
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@Suite("Encrypted keysets")
struct SealedRoundTripTests {
    @Test(
        "an encrypted keyset is read back with the metadata, keys and secret that were written",
        arguments: SealedSample.Shape.all)
    func roundTrip(_ shape: SealedSample.Shape) throws {
        let stored = try SealedSample.keyset(shape)
        let file = try KeysetFile(try stored.fileText(), path: "keyset.json")
        #expect(file.metadata == stored.metadata)
        #expect(file.protection == .passphrase(SealedSample.cheap))
        let read = try file.unlocked(SecretSource(SealedSample.passphrase()))
        #expect(read.metadata == stored.metadata)
        #expect(try read.jwks() == stored.jwks())
        #expect(read.protection == stored.protection)
        let secret = try #require(read.secret)
        #expect(secret.hasSamePassphrase(as: SealedSample.passphrase()))
    }

    @Test(
        "the text of an encrypted keyset contains no secrets and no members of its JWKs",
        arguments: SealedSample.Shape.all)
    func opaque(_ shape: SealedSample.Shape) throws {
        let stored = try SealedSample.keyset(shape)
        let text = EditedText(try stored.fileText())
        for secret in try stored.secrets() { #expect(!text.text.contains(secret)) }
        for name in ["\"kty\"", "\"d\"", "\"k\"", "\"x\""] { #expect(!text.text.contains(name)) }
        #expect(try text.find("pushcrypt").kind == .object)
    }

    @Test("an encrypted keyset is refused as a JWK set", arguments: SealedSample.Shape.all)
    func asJWKSet(_ shape: SealedSample.Shape) throws {
        let text = try SealedSample.keyset(shape).fileText()
        let error = #expect(throws: KeyError.self) { try Keyset(json: text) }
        #expect(error?.reason.contains("encrypted") == true)
    }

    @Test("two encryptions of the same keys share no random bytes")
    func fresh() throws {
        let stored = try SealedSample.keyset()
        let texts = try (0..<3).map { _ in EditedText(try stored.fileText()) }
        for path in ["sealed.passphrase.salt", "sealed.passphrase.check", "sealed.dataKey", "sealed.keys"] {
            #expect(Set(try texts.map { try $0.value(path) }).count == 3, "\(path)")
            // The first 12 bytes are the nonce.
            #expect(Set(try texts.map { try $0.value(path).prefix(17) }).count == 3, "\(path)")
        }
        let dataKeys = try texts.map { try $0.dataKey("correct horse") }
        #expect(Set(dataKeys).count == 3)
    }

    @Test(
        "a keyset can be encrypted with any passphrase",
        arguments: ["x", "päß wörd\u{301}\n", "a\0b", String(repeating: "long ", count: 900)])
    func passphrases(_ text: String) throws {
        let written = EditedText(
            try SealedSample.keyset(.sender, .passphrase(SealedSample.cheap), SealedSample.passphrase(text)).fileText())
        #expect(try written.unlocked(SealedSample.passphrase(text)).records.count == 1)
    }

    @Test("weak scrypt parameters are kept until other ones are chosen")
    func parameters() throws {
        var read = try EditedText(SealedSample.keyset().fileText()).unlocked()
        #expect(try EditedText(read.fileText()).file().protection == .passphrase(SealedSample.cheap))
        let better = try ScryptParameters(n: 1_024, r: 8, p: 2)
        read.protection = .passphrase(better)
        let rewritten = EditedText(try read.fileText())
        #expect(try rewritten.file().protection == .passphrase(better))
        #expect(try rewritten.value("sealed.passphrase.n") == "1024")
        #expect(try rewritten.unlocked().jwks() == read.jwks())
    }

    @Test("writing an encrypted keyset again needs its secret")
    func withoutSecret() throws {
        let stored = try SealedSample.keyset(.sender, .passphrase(SealedSample.cheap), nil)
        #expect(KeystoreError.Code.thrown { try stored.fileText() } == .secretNeeded)
    }

    @Test("an encrypted keyset can be changed to plain text and back")
    func protections() throws {
        var stored = try SealedSample.keyset(SealedSample.Shape.all[3])
        let jwks = try stored.jwks()
        (stored.protection, stored.secret) = (.plaintext, nil)
        let plain = EditedText(try stored.fileText())
        #expect(try plain.file().protection == .plaintext)
        var read = try plain.file().unlocked(.none)
        #expect(try read.jwks() == jwks)
        (read.protection, read.secret) = (.passphrase(SealedSample.cheap), SealedSample.passphrase("other"))
        let again = EditedText(try read.fileText())
        #expect(try again.unlocked(SealedSample.passphrase("other")).jwks() == jwks)
        #expect(KeystoreError.Code.thrown { try again.unlocked() } == .wrongSecret)
    }
}

extension EditedText {
    /// The data key that the passphrase unwraps, computed as ``SealedKeys`` describes.
    func dataKey(_ passphrase: String) throws -> [UInt8] {
        func bytes(_ path: String) throws -> [UInt8] {
            try #require(try find(path).utf8.flatMap(Base64URL.decode))
        }
        let (passphrase, salt, wrapped) = (
            Array(passphrase.utf8), try bytes("sealed.passphrase.salt"), try bytes("sealed.dataKey")
        )
        let (aad, backend) = (Array("pushcrypt/1 data key".utf8), OpenSSLBackend())
        let derived = try backend.scrypt(
            passphrase: passphrase.bytes, salt: salt.bytes, parameters: SealedSample.cheap, count: 48)
        return try backend.open(
            .aes256GCM, key: derived.bytes.extracting(first: 32), nonce: wrapped.bytes.extracting(first: 12),
            aad: aad.bytes, ciphertext: wrapped.bytes.extracting(droppingFirst: 12))
    }
}
