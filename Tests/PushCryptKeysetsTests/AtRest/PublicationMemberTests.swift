import PushCryptCore
import PushCryptKeysets
import PushCryptKeystore
import Testing

/// The member `publication` of a sender keyset's file.
@Suite("the publication of a sender keyset's file")
struct PublicationMemberTests {
    private static let policy = try! PublicationPolicy(
        set: [UInt8](repeating: 7, count: 16), topics: [Topic("com.example.app")], epoch: 3,
        validForInSeconds: 30 * 86_400)

    private static func text(_ shape: SealedSample.Shape = .sender, isEncrypted: Bool = false) throws -> String {
        var keyset = try SealedSample.keyset(
            shape, isEncrypted ? .passphrase(SealedSample.cheap) : .plaintext,
            isEncrypted ? SealedSample.passphrase() : nil)
        keyset.metadata.publication = policy
        return String(decoding: try keyset.fileText(), as: UTF8.self)
            .replacing(/,\n  "digest": "[^"]*"/, with: "")
    }

    private static func file(_ text: String) throws -> KeysetFile {
        try KeysetFile(Array(text.utf8), path: "keyset.json")
    }

    @Test("A publication that is written reads back, and a file of an earlier version has none")
    func roundTrip() throws {
        for isEncrypted in [true, false] {
            #expect(try Self.file(Self.text(isEncrypted: isEncrypted)).metadata.publication == Self.policy)
        }
        let earlier = String(decoding: try SealedSample.keyset().fileText(), as: UTF8.self)
        #expect(!earlier.contains("publication"))
        #expect(try Self.file(earlier).metadata.publication == nil)
    }

    @Test("A publication of other keys than senders', or without updatedAt, is malformed")
    func malformed() throws {
        let shared = try Self.text(.init(description: "", kind: .shared))
        let publisher = try Self.text(.init(description: "", kind: .publisher))
        let whole = try Self.text()
        let untimed = whole.replacing(/"updatedAt": "[^"]*",\s/, with: "")
        let wrong = whole.replacing("\"epoch\": 3", with: "\"epoch\": 3.5")
        try #require(untimed != whole && wrong != whole)
        for text in [shared, publisher, untimed, wrong] {
            let error = #expect(throws: KeyError.self) { try Self.file(text) }
            #expect(error?.code == .malformed)
        }
    }

    @Test("An edited publication of an encrypted file doesn't unlock")
    func authenticated() throws {
        let text = try Self.text(isEncrypted: true)
        let secret = SecretSource(SealedSample.passphrase())
        #expect(try Self.file(text).unlocked(secret).metadata.publication == Self.policy)
        for (old, new) in [("\"epoch\": 3", "\"epoch\": 4"), ("com.example.app", "com.example.apq"), ("P30D", "P90D")] {
            let edited = text.replacing(old, with: new)
            try #require(edited != text)
            let error = #expect(throws: KeystoreError.self) { try Self.file(edited).unlocked(secret) }
            #expect(error?.code == .damaged)
        }
    }
}
