import Foundation
import PushCryptCore
import PushCryptKeysets
import PushCryptKeystore
import PushCryptPrimitives
import Testing

/// Keysets encrypted under a passphrase: each implementation opens what the other wrote.
@Suite("keysets at rest, against the Python reference", .enabled(if: Python.isAvailable, Python.missing))
struct KeysetAtRestTests {
    static let passphrases = [
        "x", "correct horse", "ünïcode \u{1f511} e\u{301}", String(repeating: "long", count: 100),
    ]
    static let parameters = [(2, 1, 1), (1_024, 8, 1), (64, 3, 5), (32_768, 1, 2)]
    static let names = [["p256"], ["x25519 psk", "x25519"], ["shared"], ["sender", "other sender"]]

    private static func secret(_ passphrase: String) -> KeysetSecret {
        let bytes = Array(passphrase.utf8)
        return .passphrase(SecretBytes(copying: bytes.bytes))
    }

    private static func keyset(_ names: [String], _ protection: Protection, _ secret: KeysetSecret?) throws
        -> StoredKeyset
    {
        let time = UnixTime(Push.now)
        let entries = try names.map { name in
            let record = try JWK.named(name).keyset(DefaultBackend.shared).entries[0].record
            return Keyset.Entry(record, KeyLifecycle(createdAt: time, activatesAt: time))
        }
        let records = Dictionary(uniqueKeysWithValues: entries.map { ($0.record.kid, $0.record) })
        let metadata = KeysetMetadata(try Keyset(entries, sequence: 3, updatedAt: time))
        return StoredKeyset(metadata: metadata, records: records, protection: protection, secret: secret)
    }

    private static func open(_ text: String, _ passphrase: String) throws -> StoredKeyset {
        try KeysetFile(Array(text.utf8), path: "keyset.json").unlocked(SecretSource(secret(passphrase)))
    }

    private static func jwks(_ stored: StoredKeyset) throws -> [[String: String]] {
        try stored.metadata.timeline.keys.map { key in
            var bytes = [UInt8]()
            try stored.records[key.kid]?.appendJWK(to: &bytes)
            return try JSONDecoder().decode(JWK.self, from: Data(bytes))
        }
    }

    @Test("Python opens a keyset that Swift encrypted", arguments: names, parameters)
    func swiftToPython(names: [String], parameters: (Int, Int, Int)) throws {
        let protection = Protection.passphrase(
            try ScryptParameters(n: parameters.0, r: parameters.1, p: parameters.2))
        for passphrase in Self.passphrases {
            let stored = try Self.keyset(names, protection, Self.secret(passphrase))
            let text = String(decoding: try stored.fileText(), as: UTF8.self)
            let answer = try Reference.ask(Request.OpenKeyset(text: text, passphrase: passphrase))
            #expect(answer.keys == names.map { JWK.named($0) })
            let refused = try Reference.ask(Request.OpenKeyset(text: text, passphrase: passphrase + " "))
            #expect(refused.error == "wrongSecret")
        }
    }

    @Test("Swift opens a keyset that Python encrypted", arguments: names, parameters)
    func pythonToSwift(names: [String], parameters: (Int, Int, Int)) throws {
        let plain = try Self.keyset(names, .plaintext, nil)
        let metadata = try #require(JSONText(try plain.fileText()).root["pushcrypt"])
        for passphrase in Self.passphrases {
            var request = Request.SealKeyset(
                metadata: String(decoding: metadata.rawBytes, as: UTF8.self), keys: names.map { JWK.named($0) },
                passphrase: passphrase)
            (request.n, request.r, request.p) = parameters
            let text = try #require(try Reference.ask(request).text)
            let opened = try Self.open(text, passphrase)
            #expect(opened.metadata == plain.metadata)
            #expect(try Self.jwks(opened) == names.map { JWK.named($0) })
            let error = #expect(throws: KeystoreError.self) { try Self.open(text, passphrase + " ") }
            #expect(error?.code == .wrongSecret)
        }
    }

    @Test("both implementations refuse edited lifecycles") func lifecycleEdits() throws {
        let protection = Protection.passphrase(try ScryptParameters(n: 2, r: 1, p: 1))
        let stored = try Self.keyset(["shared"], protection, Self.secret("x"))
        let text = String(decoding: try stored.fileText(), as: UTF8.self)
        let edited = text.replacing("\"seq\": 3", with: "\"seq\": 2").replacing(/,\n  "digest": "[^"]*"/, with: "")
        #expect(edited != text)
        #expect(try Reference.ask(Request.OpenKeyset(text: edited, passphrase: "x")).error == "damaged")
        let error = #expect(throws: KeystoreError.self) { try Self.open(edited, "x") }
        #expect(error?.code == .damaged)
    }
}
