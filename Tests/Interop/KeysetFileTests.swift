import Foundation
import PushCryptCore
import PushCryptKeysets
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

/// Conformance/vectors/keyset-log-v1.json has the files that Python writes.
@Suite("keysets that Swift writes, read by the Python reference", .enabled(if: Python.isAvailable, Python.missing))
struct KeysetFileTests {
    static let passphrases = [
        "x", "correct horse", "ünïcode \u{1f511} e\u{301}", String(repeating: "long", count: 100),
    ]
    static let parameters = [(2, 1, 1), (1_024, 8, 1), (64, 3, 5), (32_768, 1, 2)]

    private static func secret(_ passphrase: String) -> KeysetSecret {
        .passphrase(SecretBytes(copying: Array(passphrase.utf8).bytes))
    }

    /// A keyset of two lines and three keys, one of which is destroyed.
    private static func keyset(_ kind: KeyKind) throws -> KeysetFiles {
        let keyset = try KeysetFiles(kind, psk: kind == .recipient).rotated().rotated()
        return try keyset.setting(.destroyedAt, of: keyset.kids[0], to: KeysetFiles.start, .destroyed)
    }

    private static func jwks(_ material: KeysetMaterial) throws -> [String: JWK] {
        let jwks = try material.records.values.map { record in
            var bytes = [UInt8]()
            try record.appendJWK(to: &bytes)
            return try JSONDecoder().decode(JWK.self, from: Data(bytes))
        }
        return Dictionary(uniqueKeysWithValues: jwks.map { ($0["kid"]!, $0) })
    }

    private static func expect(_ file: [UInt8], _ passphrase: String?, is keyset: KeysetFiles) throws {
        let answer = try Reference.ask(
            Request.OpenKeyset(text: String(decoding: file, as: UTF8.self), passphrase: passphrase))
        #expect(answer.id == "\(keyset.id)")
        #expect(answer.seq == keyset.log.state.head.number)
        let keys = try #require(answer.keys).map { ($0["kid"]!, $0) }
        #expect(try Dictionary(uniqueKeysWithValues: keys) == jwks(keyset.material))
    }

    @Test(
        "a file with keys in clear has the same id, line number and keys in Python",
        arguments: [KeyKind.recipient, .shared, .sender, .publisher])
    func plain(_ kind: KeyKind) throws {
        let keyset = try Self.keyset(kind)
        try Self.expect(keyset.file, nil, is: keyset)
    }

    @Test(
        "a file with several secrets opens in Python with each of them; a wrong secret and a changed line are refused",
        arguments: [KeyKind.recipient, .shared, .sender], parameters)
    func encrypted(_ kind: KeyKind, _ parameters: (Int, Int, Int)) throws {
        let scrypt = try ScryptParameters(n: parameters.0, r: parameters.1, p: parameters.2)
        let secrets = try KeysetSecrets(
            ofLog: Self.passphrases.enumerated().map { (SecretName("s\($0.offset)")!, Self.secret($0.element)) },
            scrypt)
        let keyset = try Self.keyset(kind).appending(.secrets) { $0.secrets = secrets.names }
        var material = keyset.material
        (material.secrets, material.historyKey) = (secrets, try .random())
        let file = try material.file(keyset.log)
        for passphrase in Self.passphrases { try Self.expect(file, passphrase, is: keyset) }
        let text = String(decoding: file, as: UTF8.self)
        for (changed, code) in [(text, "wrongSecret"), (text.replacing("rotated", with: "policy"), "brokenChain")] {
            let passphrase = code == "wrongSecret" ? "X" : "x"
            #expect(try Reference.ask(Request.OpenKeyset(text: changed, passphrase: passphrase)).error == code)
        }
    }
}
