package import PushCryptPrimitives

#if canImport(CryptoKit)
import CryptoKit
import Foundation
#else
import Crypto
import FoundationEssentials
#endif

/// The primitives of Apple's CryptoKit or, on Linux and for tests only, of swift-crypto.
package struct CryptoKitBackend: CryptoBackend {
    package init() {}
    package var name: String { "CryptoKit" }

    package func randomBytes(into bytes: inout MutableSpan<UInt8>) throws {
        let random = try randomSecret(count: bytes.count)
        bytes.write(random.bytes)
    }

    /// CryptoKit has no function for random bytes, so these are the bytes of a new symmetric key, which can't be empty.
    package func randomSecret(count: Int) throws -> SecretBytes {
        guard count != 0 else { return SecretBytes(count: 0) { _ in } }
        return SecretBytes(copying: SymmetricKey(size: SymmetricKeySize(bitCount: count * 8)))
    }

    package func sha256(_ message: Span<UInt8>) throws -> [UInt8] { Array(SHA256.hash(data: Array(message))) }
    package func sha256() -> any IncrementalSHA256 { CryptoKitSHA256() }
    package func hmacSHA256(key: Span<UInt8>) -> any HMACSHA256 { CryptoKitHMAC(key: key) }

    package func supports(_ type: KeyPairType) -> Bool {
        guard type == .xWing else { return true }
        if #available(iOS 26, macOS 26, macCatalyst 26, watchOS 26, tvOS 26, visionOS 26, *) { return true }
        return false
    }

    package func generateKeyPair(_ type: KeyPairType) throws -> any DecapsulationKey {
        switch type {
        case .p256: return P256PrivateKey(P256.KeyAgreement.PrivateKey(compactRepresentable: false))
        case .x25519: return X25519PrivateKey(Curve25519.KeyAgreement.PrivateKey())
        case .xWing:
            guard #available(iOS 26, macOS 26, macCatalyst 26, watchOS 26, tvOS 26, visionOS 26, *) else {
                throw Self.unsupportedXWing
            }
            return try XWingPrivateKey.generate()
        }
    }

    package func privateKey(_ type: KeyPairType, _ serialized: Span<UInt8>) throws -> any DecapsulationKey {
        try KeyPairType.checkPrivateKeyLength(serialized)
        switch type {
        case .p256: return try P256PrivateKey(serialized)
        case .x25519: return try X25519PrivateKey(serialized)
        case .xWing:
            guard #available(iOS 26, macOS 26, macCatalyst 26, watchOS 26, tvOS 26, visionOS 26, *) else {
                throw Self.unsupportedXWing
            }
            return try XWingPrivateKey(serialized)
        }
    }

    package func publicKey(_ type: KeyPairType, _ serialized: Span<UInt8>) throws -> any EncapsulationKey {
        switch type {
        case .p256: return try P256PublicKey(serialized)
        case .x25519: return try X25519PublicKey(serialized)
        case .xWing:
            guard #available(iOS 26, macOS 26, macCatalyst 26, watchOS 26, tvOS 26, visionOS 26, *) else {
                throw Self.unsupportedXWing
            }
            return try XWingPublicKey(serialized)
        }
    }

    package func encapsulate(
        to recipient: any EncapsulationKey, into secret: inout MutableSpan<UInt8>, appendingTo output: inout [UInt8]
    ) throws {
        guard #available(iOS 26, macOS 26, macCatalyst 26, watchOS 26, tvOS 26, visionOS 26, *),
            let recipient = recipient as? XWingPublicKey
        else { throw Self.notXWing }
        try recipient.encapsulate(into: &secret, appendingTo: &output)
    }

    package func decapsulate(
        _ encapsulated: Span<UInt8>, with key: any DecapsulationKey, into secret: inout MutableSpan<UInt8>
    ) throws {
        guard #available(iOS 26, macOS 26, macCatalyst 26, watchOS 26, tvOS 26, visionOS 26, *),
            let key = key as? XWingPrivateKey
        else { throw Self.notXWing }
        try key.decapsulate(encapsulated, into: &secret)
    }

    private static var notXWing: PushCryptPrimitives.CryptoError {
        .init(.keyMismatch, "the key is not an X-Wing key of this backend")
    }

    private static var unsupportedXWing: PushCryptPrimitives.CryptoError {
        .init(.unsupportedAlgorithm, "this system has no X-Wing: iOS 26 or another system of 2025 is needed")
    }

    package func generateSigningKey() throws -> any SigningKey { Ed25519SigningKey(Curve25519.Signing.PrivateKey()) }

    package func signingKey(_ seed: Span<UInt8>) throws -> any SigningKey { try Ed25519SigningKey(seed) }

    package func verificationKey(_ serialized: Span<UInt8>) throws -> any VerificationKey {
        try Ed25519VerificationKey(serialized)
    }
}

extension CryptoKitBackend {
    package func seal(
        _ algorithm: AEADAlgorithm, key: Span<UInt8>, nonce: Span<UInt8>, aad: Span<UInt8>,
        plaintext: Span<UInt8>, appendingTo output: inout [UInt8]
    ) throws {
        let key = try symmetricKey(algorithm, key, nonce)
        let (plaintext, nonce, aad) = (Array(plaintext), Array(nonce), Array(aad))
        switch algorithm {
        case .aes128GCM, .aes256GCM:
            let box = try AES.GCM.seal(plaintext, using: key, nonce: .init(data: nonce), authenticating: aad)
            output += box.ciphertext
            output += box.tag
        case .chaCha20Poly1305:
            let box = try ChaChaPoly.seal(plaintext, using: key, nonce: .init(data: nonce), authenticating: aad)
            output += box.ciphertext
            output += box.tag
        }
    }

    package func open(
        _ algorithm: AEADAlgorithm, key: Span<UInt8>, nonce: Span<UInt8>, aad: Span<UInt8>, ciphertext: Span<UInt8>
    ) throws -> [UInt8] {
        let key = try symmetricKey(algorithm, key, nonce)
        let (combined, aad) = (Array(nonce) + Array(ciphertext), Array(aad))
        do {
            switch algorithm {
            case .aes128GCM, .aes256GCM:
                return Array(try AES.GCM.open(.init(combined: combined), using: key, authenticating: aad))
            case .chaCha20Poly1305:
                return Array(try ChaChaPoly.open(.init(combined: combined), using: key, authenticating: aad))
            }
        } catch {
            throw CryptoError(.authenticationFailure, "AEAD")
        }
    }

    private func symmetricKey(
        _ algorithm: AEADAlgorithm, _ key: Span<UInt8>, _ nonce: Span<UInt8>
    ) throws -> SymmetricKey {
        guard key.count == algorithm.keyByteCount, nonce.count == AEADAlgorithm.nonceByteCount else {
            throw CryptoError(.invalidLength, "the key has \(algorithm.keyByteCount) bytes and the nonce 12")
        }
        return SymmetricKey(copying: key)
    }
}
