import PushCryptPrimitives

#if canImport(CryptoKit)
import CryptoKit
import Foundation
#else
import Crypto
import FoundationEssentials
#endif

final class Ed25519VerificationKey: VerificationKey {
    private let key: Curve25519.Signing.PublicKey

    var serialized: [UInt8] { Array(key.rawRepresentation) }

    init(_ key: Curve25519.Signing.PublicKey) { self.key = key }

    convenience init(_ serialized: Span<UInt8>) throws {
        guard let key = try? Curve25519.Signing.PublicKey(rawRepresentation: Array(serialized)) else {
            throw CryptoError(.invalidPublicKey, "an Ed25519 public key has 32 bytes")
        }
        self.init(key)
    }

    func isValid(_ signature: Span<UInt8>, for message: Span<UInt8>) -> Bool {
        key.isValidSignature(Array(signature), for: Array(message))
    }
}

final class Ed25519SigningKey: SigningKey {
    private let key: Curve25519.Signing.PrivateKey
    let publicKey: any VerificationKey

    init(_ key: Curve25519.Signing.PrivateKey) {
        self.key = key
        publicKey = Ed25519VerificationKey(key.publicKey)
    }

    convenience init(_ seed: Span<UInt8>) throws {
        guard let key = try? seed.withContiguousBytes(Curve25519.Signing.PrivateKey.init(rawRepresentation:)) else {
            throw CryptoError(.invalidPrivateKey, "an Ed25519 private key has 32 bytes")
        }
        self.init(key)
    }

    var serialized: SecretBytes { get throws { SecretBytes(copying: key.rawRepresentation) } }

    func signature(for message: Span<UInt8>) throws -> [UInt8] {
        Array(try key.signature(for: Array(message)))
    }
}
