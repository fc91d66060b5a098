import PushCryptCore
import PushCryptFiles
import PushCryptKeystore
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptKeysets

/// The result of `KeysetFile` for each source of a secret.
@Suite("A given secret requires encrypted keys")
struct ExpectedProtectionTests {
    private static let plain = Result { EditedText(try SealedSample.keyset(.sender, .plaintext, nil).fileText()) }
    private static let sealed = Result { EditedText(try SealedSample.text()) }

    /// Counts the requests for a secret.
    private final class Asking {
        private(set) var count = 0

        func answer() -> KeysetSecret {
            count += 1
            return SealedSample.passphrase()
        }
    }

    @Test("plain keys are refused if a secret is given, without reading it, and the error contains advice")
    func given() throws {
        let (file, asking) = (try Self.plain.get().file(), Asking())
        let source = SecretSource.given { asking.answer() }
        let bodies: [() throws -> Void] = [
            { _ = try file.unlocked(source) }, { _ = try file.metadata(source) }, { _ = try file.answered(source) },
        ]
        for body in bodies {
            let error = #expect(throws: KeystoreError.self) { try body() }
            #expect(error?.code == .notEncrypted)
            #expect(
                error?.reason.hasPrefix("keyset.json is not encrypted, though a passphrase or wrap command was given")
                    == true)
            #expect(error?.reason.contains("give neither") == true)
        }
        #expect(asking.count == 0)
    }

    @Test("plain keys are read without a question if a person would be asked for the secret")
    func asked() throws {
        let (file, asking) = (try Self.plain.get().file(), Asking())
        let source = SecretSource.asked { asking.answer() }
        #expect(try file.unlocked(source).records.count == 1)
        #expect(try file.answered(source).isGiven == false)
        #expect(try file.unlocked(.none).records.count == 1)
        #expect(asking.count == 0)
    }

    @Test("encrypted keys are read with a given or an asked secret, and not without one")
    func encrypted() throws {
        let file = try Self.sealed.get().file()
        for source in [SecretSource.given { SealedSample.passphrase() }, .asked { SealedSample.passphrase() }] {
            #expect(try file.unlocked(source).records.count == 1)
        }
        #expect(KeystoreError.Code.thrown { try file.unlocked(.none) } == .secretNeeded)
    }

    /// Another user may replace the file between the question and the lock.
    @Test("after an answer for encrypted keys, plain keys in their place are refused")
    func answered() throws {
        let answered = try Self.sealed.get().file().answered(.asked { SealedSample.passphrase() })
        #expect(KeystoreError.Code.thrown { try Self.plain.get().file().unlocked(answered) } == .notEncrypted)
    }

    @Test("metadata is authenticated if a secret is given, and accepted otherwise")
    func metadata() throws {
        let file = try Self.sealed.get().setting("pushcrypt.seq", to: "8").withDigest().file()
        #expect(try file.metadata(.none).sequence == 8)
        #expect(try file.metadata(.asked { SealedSample.passphrase() }).sequence == 8)
        #expect(KeystoreError.Code.thrown { try file.metadata(SecretSource(SealedSample.passphrase())) } == .damaged)
    }

    @Test("demo keys are refused like other plain keys unless the caller accepts them")
    func demo() throws {
        for text in [DemoKeys.recipientJSON, DemoKeys.senderJSON, DemoKeys.sharedJSON] {
            let file = try EditedText(text).file()
            #expect(
                KeystoreError.Code.thrown { try file.unlocked(SecretSource(SealedSample.passphrase())) }
                    == .notEncrypted)
            let accepting = SecretSource(SealedSample.passphrase(), acceptingDemoKeys: true)
            #expect(try file.unlocked(accepting).records.count == 1)
        }
        let accepting = SecretSource(SealedSample.passphrase(), acceptingDemoKeys: true)
        #expect(KeystoreError.Code.thrown { try Self.plain.get().file().unlocked(accepting) } == .notEncrypted)
        // A device key has the id of its master, which doesn't identify it.
        let device = EditedText(DemoKeys.sharedJSON.replacing("\"kid\":", with: "\"device\":\"d\",\"kid\":"))
        #expect(KeystoreError.Code.thrown { try device.file().unlocked(accepting) } == .notEncrypted)
        // A keyset without keys isn't a demo keyset: the next key would be added to it in plain text.
        let empty = EditedText(
            #"{"keys": [], "pushcrypt": {"seq": 1, "kind": "sender", "keys": {}}}"#)
        #expect(KeystoreError.Code.thrown { try empty.file().unlocked(accepting) } == .notEncrypted)
    }

    @Test(
        "a JWK or a JWK set beside a given secret is read only if it is public and the caller allows that",
        arguments: ["recipient", "shared", "sender"])
    func jwk(_ kind: String) throws {
        let record = try KeyRecord.generate(
            #require(KeyKind(rawValue: kind)), psk: kind == "recipient", backend: DefaultBackend.shared)
        let secret = SecretSource(SealedSample.passphrase())
        for isSet in [true, false] {
            let (own, others) = (
                try Self.text(record, isSet), try Self.text(record.publicRecord(keepingPSK: true), isSet)
            )
            func code(_ text: [UInt8], allowsPublic: Bool) -> KeystoreError.Code? {
                .thrown { try Keyset(plainText: text, from: "key.jwk", secret, allowsPublic: allowsPublic) }
            }
            #expect(code(own, allowsPublic: false) == .notEncrypted)
            #expect(code(own, allowsPublic: true) == .notEncrypted)
            #expect(code(others, allowsPublic: false) == .notEncrypted)
            // A shared key has no public half.
            #expect(code(others, allowsPublic: true) == (kind == "shared" ? .notEncrypted : nil))
            for source in [SecretSource.none, .asked { SealedSample.passphrase() }] {
                #expect(try Keyset(plainText: own, from: "key.jwk", source).keyIDs == [record.kid])
            }
        }
    }

    private static func text(_ record: KeyRecord, _ isSet: Bool) throws -> [UInt8] {
        var text = [UInt8]()
        try record.appendJWK(to: &text)
        return isSet ? Array(#"{"keys":["#.utf8) + text + Array("]}".utf8) : text
    }

    @Test("the keys in a folder with an encrypted keyset load only with their secret and private modes")
    func folder() throws {
        let place = try TemporaryFolder()
        let (path, stored) = (place.path + "/ios", try SealedSample.keyset())
        try Folder.makeIfMissing(path)
        try FileSystem.replace(path + "/keyset.json", with: stored.fileText())
        let folder = KeysetFolder(path)
        #expect(try folder.file().metadata == stored.metadata)
        #expect(try folder.load(SecretSource(SealedSample.passphrase())).keyIDs == Array(stored.records.keys))
        #expect(KeystoreError.Code.thrown { try folder.load() } == .secretNeeded)
        #expect(
            KeystoreError.Code.thrown { try folder.load(SecretSource(SealedSample.passphrase("x"))) } == .wrongSecret)
        try place.setMode(0o644, of: "ios/keyset.json")
        #expect(KeystoreError.Code.thrown { try folder.load(SecretSource(SealedSample.passphrase())) } == .looseMode)
    }
}
