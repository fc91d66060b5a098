import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptHPKE

/// The vector of draft-ietf-hpke-pq with X-Wing and HKDF-SHA256. It has ChaCha20Poly1305: none is published with
/// AES-256-GCM. Its `info` and `pt` are themselves hexadecimal text.
@Suite(.enabled(if: Vectors.isAvailable, Comment(rawValue: Vectors.missing))) struct XWingVectorTests {
    struct Vector: Decodable, Sendable {
        enum CodingKeys: String, CodingKey {
            case mode, info, skRm, pkRm, enc, key, encryptions, exports
            case kemID = "kem_id"
            case kdfID = "kdf_id"
            case aeadID = "aead_id"
            case sharedSecret = "shared_secret"
            case baseNonce = "base_nonce"
            case exporterSecret = "exporter_secret"
        }

        let mode: UInt8
        let kemID, kdfID, aeadID: UInt16
        let info, skRm, pkRm, enc, sharedSecret, key, baseNonce, exporterSecret: HexBytes
        let encryptions: [HPKEVector.Encryption]
        let exports: [HPKEVector.Export]
    }

    private static func vectors() throws -> [Vector] { try Vectors.load("xwing/hpke-pq-xwing.json", as: [Vector].self) }

    private static func vector() throws -> Vector {
        try #require(try vectors().first { $0.kemID == KEM.xWing.rawValue && $0.kdfID == HPKE.kdfID })
    }

    @Test func `one of the file's two vectors has HKDF-SHA256, with five messages and five exports`() throws {
        #expect(try Self.vectors().count == 2)
        let vector = try Self.vector()
        #expect(vector.mode == Mode.base.rawValue && vector.aeadID == AEAD.chaCha20Poly1305.rawValue)
        #expect(vector.encryptions.count >= 5 && vector.exports.count == 5)
    }

    @Test("Decap, the key schedule, Open and Export return the vector's values", arguments: Backends.supporting(.xWing))
    func steps(_ named: NamedBackend) throws {
        let vector = try Self.vector()
        let hpke = HPKE(kem: .xWing, aead: try #require(AEAD(rawValue: vector.aeadID)), backend: named.backend)
        let key = try named.backend.privateKey(.xWing, vector.skRm.span)
        #expect(key.publicKey.serialized == vector.pkRm.bytes)
        let secret = try SecretBytes(count: HPKE.sharedSecretByteCount) { secret in
            try hpke.decap(vector.enc.span, with: key, senderKey: nil, into: &secret)
        }
        #expect(secret.revealed == vector.sharedSecret.bytes)
        try hpke.withKeySchedule(.base, sharedSecret: secret.bytes, info: vector.info.span, psk: nil) { schedule in
            let secrets = try ContextSecrets(hpke, schedule)
            #expect(secrets.exporterSecret.revealed == vector.exporterSecret.bytes)
            let cipher = try #require(secrets.cipher)
            #expect(cipher.key.revealed == vector.key.bytes)
            #expect(cipher.baseNonce.revealed == vector.baseNonce.bytes)
        }
        var receiving = try hpke.setupRecipient(enc: vector.enc.span, with: key, info: vector.info.span)
        for encryption in vector.encryptions {
            let plaintext = try receiving.open(encryption.ct.span, aad: encryption.aad.span)
            #expect(plaintext == encryption.pt.bytes)
        }
        for export in vector.exports {
            let secret = try receiving.export(export.exporterContext.span, count: export.count)
            #expect(secret.revealed == export.value.bytes)
        }
    }
}
