import PushCryptPrimitives

#if canImport(CryptoKit)
import CryptoKit
import Foundation
#else
import Crypto
import FoundationEssentials
#endif

final class P256PublicKey: EncapsulationKey {
    fileprivate let key: P256.KeyAgreement.PublicKey
    let serialized: [UInt8]

    var type: KeyPairType { .p256 }

    fileprivate init(_ key: P256.KeyAgreement.PublicKey) {
        self.key = key
        serialized = Array(key.x963Representation)
    }

    /// SEC 1 section 2.3.4, uncompressed only. CryptoKit checks that the point is on the curve.
    convenience init(_ serialized: Span<UInt8>) throws {
        guard serialized.count == KeyPairType.p256.publicKeyByteCount, serialized[0] == 4 else {
            throw CryptoError(.invalidPublicKey, "a P-256 public key is 65 bytes, uncompressed")
        }
        guard let key = try? P256.KeyAgreement.PublicKey(x963Representation: Array(serialized)) else {
            throw CryptoError(.invalidPublicKey, "the point is not on P-256")
        }
        self.init(key)
    }
}

final class P256PrivateKey: DecapsulationKey {
    private let key: P256.KeyAgreement.PrivateKey
    let publicKey: any EncapsulationKey

    init(_ key: P256.KeyAgreement.PrivateKey) {
        self.key = key
        publicKey = P256PublicKey(key.publicKey)
    }

    convenience init(_ serialized: Span<UInt8>) throws {
        guard let key = try? serialized.withContiguousBytes(P256.KeyAgreement.PrivateKey.init(rawRepresentation:))
        else { throw CryptoError(.invalidPrivateKey, "a P-256 private key is in 1..<n") }
        self.init(key)
    }

    var serialized: SecretBytes { get throws { SecretBytes(copying: key.rawRepresentation) } }

    func sharedSecret(with peer: any EncapsulationKey) throws -> SecretBytes {
        guard let peer = peer as? P256PublicKey else {
            throw CryptoError(.keyMismatch, "the other key is not a P-256 key of this backend")
        }
        guard let secret = try? key.sharedSecretFromKeyAgreement(with: peer.key) else {
            throw CryptoError(.degenerateSharedSecret, "P-256")
        }
        return SecretBytes(copying: secret)
    }
}

final class X25519PublicKey: EncapsulationKey {
    fileprivate let key: Curve25519.KeyAgreement.PublicKey
    let serialized: [UInt8]

    var type: KeyPairType { .x25519 }

    fileprivate init(_ key: Curve25519.KeyAgreement.PublicKey) {
        self.key = key
        serialized = Array(key.rawRepresentation)
    }

    convenience init(_ serialized: Span<UInt8>) throws {
        guard let key = try? Curve25519.KeyAgreement.PublicKey(rawRepresentation: Array(serialized)) else {
            throw CryptoError(.invalidPublicKey, "an X25519 public key has 32 bytes")
        }
        self.init(key)
    }
}

final class X25519PrivateKey: DecapsulationKey {
    private let key: Curve25519.KeyAgreement.PrivateKey
    let publicKey: any EncapsulationKey

    init(_ key: Curve25519.KeyAgreement.PrivateKey) {
        self.key = key
        publicKey = X25519PublicKey(key.publicKey)
    }

    convenience init(_ serialized: Span<UInt8>) throws {
        guard let key = try? serialized.withContiguousBytes(Curve25519.KeyAgreement.PrivateKey.init(rawRepresentation:))
        else { throw CryptoError(.invalidPrivateKey, "an X25519 private key has 32 bytes") }
        self.init(key)
    }

    var serialized: SecretBytes { get throws { SecretBytes(copying: key.rawRepresentation) } }

    /// swift-crypto returns an all-zero secret for a point of small order. RFC 9180 section 7.1.4 requires a refusal.
    func sharedSecret(with peer: any EncapsulationKey) throws -> SecretBytes {
        guard let peer = peer as? X25519PublicKey else {
            throw CryptoError(.keyMismatch, "the other key is not an X25519 key of this backend")
        }
        guard let shared = try? key.sharedSecretFromKeyAgreement(with: peer.key) else {
            throw CryptoError(.degenerateSharedSecret, "X25519")
        }
        let secret = SecretBytes(copying: shared)
        if constantTimeIsZero(secret.bytes) { throw CryptoError(.degenerateSharedSecret, "X25519") }
        return secret
    }
}

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

    func signature(for message: Span<UInt8>) throws -> [UInt8] { Array(try key.signature(for: Array(message))) }
}
