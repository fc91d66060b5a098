import Crypto
import Foundation
import RunnerProtocol

// swift-crypto's HPKE (BoringSSL), with the ciphersuites and the info of the library's suites 1 and 2.

@main
enum Main {
    static func main() throws {
        try JobRunner(name: "swiftcrypto swift-crypto", operation: operation).run()
    }

    private static let message = Data(repeating: UInt8(ascii: "x"), count: 256)

    @Sendable
    private static func operation(_ job: String) throws -> Work? {
        switch job {
        case "seal1": try seal(P256.KeyAgreement.PrivateKey(), .suite1, info(1))
        case "open1": try open(P256.KeyAgreement.PrivateKey(), .suite1, info(1))
        case "seal2": try seal(Curve25519.KeyAgreement.PrivateKey(), .suite2, info(2))
        case "open2": try open(Curve25519.KeyAgreement.PrivateKey(), .suite2, info(2))
        default: nil
        }
    }

    private static func seal<Key: HPKEDiffieHellmanPrivateKey>(
        _ key: Key, _ ciphersuite: HPKE.Ciphersuite, _ info: Data
    ) throws -> Work {
        let publicKey = key.publicKey
        return { _ = try sealed(to: publicKey, ciphersuite, info) }
    }

    private static func open<Key: HPKEDiffieHellmanPrivateKey>(
        _ key: Key, _ ciphersuite: HPKE.Ciphersuite, _ info: Data
    ) throws -> Work {
        let (enc, ciphertext) = try sealed(to: key.publicKey, ciphersuite, info)
        return {
            var recipient = try HPKE.Recipient(
                privateKey: key, ciphersuite: ciphersuite, info: info, encapsulatedKey: enc)
            _ = try recipient.open(ciphertext)
        }
    }

    private static func sealed<Key: HPKEDiffieHellmanPublicKey>(
        to key: Key, _ ciphersuite: HPKE.Ciphersuite, _ info: Data
    ) throws -> (enc: Data, ciphertext: Data) {
        var sender = try HPKE.Sender(recipientKey: key, ciphersuite: ciphersuite, info: info)
        return (sender.encapsulatedKey, try sender.seal(message))
    }

    private static func info(_ suite: UInt8) -> Data {
        Data("pushcrypt/1\0".utf8) + [suite, 0] + lengthPrefixed("AAAAAAAAAAA") + lengthPrefixed("")
            + lengthPrefixed("com.example.app")
    }

    private static func lengthPrefixed(_ text: String) -> Data {
        Data([UInt8(text.utf8.count >> 8), UInt8(text.utf8.count & 255)]) + Data(text.utf8)
    }
}

extension HPKE.Ciphersuite {
    fileprivate static let suite1 = HPKE.Ciphersuite(kem: .P256_HKDF_SHA256, kdf: .HKDF_SHA256, aead: .AES_GCM_256)
    fileprivate static let suite2 = HPKE.Ciphersuite(
        kem: .Curve25519_HKDF_SHA256, kdf: .HKDF_SHA256, aead: .AES_GCM_128)
}
