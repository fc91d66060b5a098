import Crypto
import Foundation
import RunnerProtocol

// swift-crypto's HPKE (BoringSSL), with the ciphersuites and the info of the library's suites 1, 2 and 3.

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
        case "seal3": try seal(XWingMLKEM768X25519.PrivateKey.generate(), .suite3, info(3))
        case "open3": try open(XWingMLKEM768X25519.PrivateKey.generate(), .suite3, info(3))
        default: nil
        }
    }

    private static func seal(_ key: some PrivateKey, _ ciphersuite: HPKE.Ciphersuite, _ info: Data) -> Work {
        let sender = key.sender(ciphersuite, info)
        return { _ = try sealed(by: sender) }
    }

    private static func open(_ key: some PrivateKey, _ ciphersuite: HPKE.Ciphersuite, _ info: Data) throws -> Work {
        let (enc, ciphertext) = try sealed(by: key.sender(ciphersuite, info))
        return {
            var recipient = try key.recipient(ciphersuite, info, enc)
            _ = try recipient.open(ciphertext)
        }
    }

    private static func sealed(by makeSender: () throws -> HPKE.Sender) throws -> (enc: Data, ciphertext: Data) {
        var sender = try makeSender()
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

/// A recipient's key of any KEM: swift-crypto has separate protocols for DHKEM and for other KEMs.
private protocol PrivateKey {
    /// Makes a sender to this key for each message; the public key is imported once.
    func sender(_ ciphersuite: HPKE.Ciphersuite, _ info: Data) -> () throws -> HPKE.Sender
    func recipient(_ ciphersuite: HPKE.Ciphersuite, _ info: Data, _ enc: Data) throws -> HPKE.Recipient
}

extension PrivateKey where Self: HPKEDiffieHellmanPrivateKey {
    func sender(_ ciphersuite: HPKE.Ciphersuite, _ info: Data) -> () throws -> HPKE.Sender {
        let key = publicKey
        return { try HPKE.Sender(recipientKey: key, ciphersuite: ciphersuite, info: info) }
    }

    func recipient(_ ciphersuite: HPKE.Ciphersuite, _ info: Data, _ enc: Data) throws -> HPKE.Recipient {
        try HPKE.Recipient(privateKey: self, ciphersuite: ciphersuite, info: info, encapsulatedKey: enc)
    }
}

extension P256.KeyAgreement.PrivateKey: PrivateKey {}
extension Curve25519.KeyAgreement.PrivateKey: PrivateKey {}

extension XWingMLKEM768X25519.PrivateKey: PrivateKey {
    func sender(_ ciphersuite: HPKE.Ciphersuite, _ info: Data) -> () throws -> HPKE.Sender {
        let key = publicKey
        return { try HPKE.Sender(recipientKey: key, ciphersuite: ciphersuite, info: info) }
    }

    func recipient(_ ciphersuite: HPKE.Ciphersuite, _ info: Data, _ enc: Data) throws -> HPKE.Recipient {
        try HPKE.Recipient(privateKey: self, ciphersuite: ciphersuite, info: info, encapsulatedKey: enc)
    }
}

extension HPKE.Ciphersuite {
    fileprivate static let suite1 = HPKE.Ciphersuite(kem: .P256_HKDF_SHA256, kdf: .HKDF_SHA256, aead: .AES_GCM_256)
    fileprivate static let suite2 = HPKE.Ciphersuite(
        kem: .Curve25519_HKDF_SHA256, kdf: .HKDF_SHA256, aead: .AES_GCM_128)
    fileprivate static let suite3 = HPKE.Ciphersuite.XWingMLKEM768X25519_SHA256_AES_GCM_256
}
