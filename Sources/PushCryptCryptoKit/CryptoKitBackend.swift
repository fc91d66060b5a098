public import PushCryptPrimitives

#if canImport(CryptoKit)
import CryptoKit
import Foundation
#else
import Crypto
import FoundationEssentials
#endif

/// The primitives of Apple's CryptoKit; on Linux those of swift-crypto, which the tests use.
public struct CryptoKitBackend: CryptoBackend {
    public init() {}

    public var name: String { "CryptoKit" }

    public func randomBytes(count: Int) throws -> [UInt8] {
        let secret = try randomSecret(count: count)
        return Array(secret.bytes)
    }

    /// CryptoKit's random source has no function of its own; a symmetric key is the random bytes it makes. There is no
    /// key of no bytes.
    public func randomSecret(count: Int) throws -> SecretBytes {
        guard count != 0 else { return SecretBytes(count: 0) { _ in } }
        return SecretBytes(copying: SymmetricKey(size: SymmetricKeySize(bitCount: count * 8)))
    }

    public func sha256(_ message: Span<UInt8>) throws -> [UInt8] {
        Array(SHA256.hash(data: Array(message)))
    }

    public func sha256() -> any IncrementalSHA256 {
        CryptoKitSHA256()
    }

    public func hmacSHA256(key: Span<UInt8>) -> any HMACSHA256 {
        CryptoKitHMAC(key: key)
    }

    public func generateKeyPair(_ group: DHGroup) throws -> any DHPrivateKey {
        switch group {
        case .p256: P256PrivateKey(P256.KeyAgreement.PrivateKey(compactRepresentable: false))
        case .x25519: X25519PrivateKey(Curve25519.KeyAgreement.PrivateKey())
        }
    }

    public func privateKey(_ group: DHGroup, _ serialized: Span<UInt8>) throws -> any DHPrivateKey {
        try group.checkPrivateKeyLength(serialized)
        switch group {
        case .p256: return try P256PrivateKey(serialized)
        case .x25519: return try X25519PrivateKey(serialized)
        }
    }

    public func publicKey(_ group: DHGroup, _ serialized: Span<UInt8>) throws -> any DHPublicKey {
        try group.checkPublicKeyLength(serialized)
        switch group {
        case .p256: return try P256PublicKey(serialized)
        case .x25519: return try X25519PublicKey(serialized)
        }
    }

    public func generateSigningKey() throws -> any SigningKey {
        Ed25519SigningKey(Curve25519.Signing.PrivateKey())
    }

    public func signingKey(_ seed: Span<UInt8>) throws -> any SigningKey {
        try Ed25519SigningKey(seed)
    }

    public func verificationKey(_ serialized: Span<UInt8>) throws -> any VerificationKey {
        try Ed25519VerificationKey(serialized)
    }
}
