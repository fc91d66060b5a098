import PushCryptPrimitives

#if canImport(CryptoKit)
import CryptoKit
import Foundation
#else
import Crypto
import FoundationEssentials
#endif

/// The X-Wing of the operating systems of 2025.
@available(iOS 26, macOS 26, macCatalyst 26, watchOS 26, tvOS 26, visionOS 26, *)
final class XWingPublicKey: EncapsulationKey {
    private let key: XWingMLKEM768X25519.PublicKey
    let serialized: [UInt8]

    var type: KeyPairType { .xWing }

    fileprivate init(_ key: XWingMLKEM768X25519.PublicKey) {
        self.key = key
        serialized = Array(key.rawRepresentation)
    }

    /// CryptoKit's documentation doesn't say that it checks the part of ML-KEM, so that is done here.
    ///
    /// - Throws: `CryptoError` with `invalidPublicKey`.
    convenience init(_ serialized: Span<UInt8>) throws {
        guard serialized.count == KeyPairType.xWing.publicKeyByteCount, Self.isReduced(serialized) else {
            throw CryptoError(.invalidPublicKey, "an X-Wing public key has 1,216 bytes and coefficients below 3,329")
        }
        guard let key = try? XWingMLKEM768X25519.PublicKey(rawRepresentation: Array(serialized)) else {
            throw CryptoError(.invalidPublicKey, "CryptoKit refuses the X-Wing public key")
        }
        self.init(key)
    }

    /// The modulus check of an encapsulation key (FIPS 203 section 7.2): 768 coefficients of 12 bits, little-endian, are below
    /// q = 3329.
    private static func isReduced(_ serialized: Span<UInt8>) -> Bool {
        stride(from: 0, to: 1_152, by: 3).allSatisfy { index in
            let (low, middle, high) = (Int(serialized[index]), Int(serialized[index + 1]), Int(serialized[index + 2]))
            return low | (middle & 0x0f) << 8 < 3_329 && middle >> 4 | high << 4 < 3_329
        }
    }

    /// The drafts of X-Wing don't demand this check, and CryptoKit's documentation doesn't mention it. PROTOCOL section 3 does.
    ///
    /// - Parameter u: the last 32 bytes of a public key or a ciphertext, a public key of X25519.
    /// - Throws: `CryptoError` with `degenerateSharedSecret` if X25519's secret with it is zero.
    fileprivate static func checkX25519(_ u: [UInt8]) throws {
        guard !X25519Points.hasSmallOrder(u) else {
            throw CryptoError(.degenerateSharedSecret, "X25519")
        }
    }

    func encapsulate(into sharedSecret: inout MutableSpan<UInt8>, appendingTo output: inout [UInt8]) throws {
        try Self.checkX25519(Array(serialized.suffix(32)))
        guard let result = try? key.encapsulate() else {
            throw CryptoError(.backendFailure, "X-Wing's encapsulation failed")
        }
        sharedSecret.write(SecretBytes(copying: result.sharedSecret).bytes)
        output += result.encapsulated
    }
}

@available(iOS 26, macOS 26, macCatalyst 26, watchOS 26, tvOS 26, visionOS 26, *)
final class XWingPrivateKey: DecapsulationKey {
    private let key: XWingMLKEM768X25519.PrivateKey
    let publicKey: any EncapsulationKey

    private init(_ key: XWingMLKEM768X25519.PrivateKey) {
        self.key = key
        publicKey = XWingPublicKey(key.publicKey)
    }

    static func generate() throws -> XWingPrivateKey {
        guard let key = try? XWingMLKEM768X25519.PrivateKey.generate() else {
            throw CryptoError(.backendFailure, "X-Wing's key generation failed")
        }
        return XWingPrivateKey(key)
    }

    /// - Parameter seed: 32 bytes.
    convenience init(_ seed: Span<UInt8>) throws {
        var copy = Array(seed)
        defer { wipe(&copy) }
        guard let key = try? XWingMLKEM768X25519.PrivateKey(seedRepresentation: copy, publicKey: nil) else {
            throw CryptoError(.invalidPrivateKey, "an X-Wing private key has 32 bytes")
        }
        self.init(key)
    }

    var serialized: SecretBytes { SecretBytes(copying: key.seedRepresentation) }

    /// - Throws: `CryptoError` with `keyMismatch`: X-Wing has no Diffie-Hellman of two keys.
    func sharedSecret(with peer: any EncapsulationKey) throws -> SecretBytes {
        throw CryptoError(.keyMismatch, "an X-Wing key agrees on no secret with another key")
    }

    /// - Throws: `CryptoError` with `invalidPublicKey` for a ciphertext of another length, `degenerateSharedSecret`.
    func decapsulate(_ ciphertext: Span<UInt8>, into sharedSecret: inout MutableSpan<UInt8>) throws {
        guard ciphertext.count == KeyPairType.xWing.encapsulatedByteCount else {
            throw CryptoError(.invalidPublicKey, "an X-Wing ciphertext has 1,120 bytes")
        }
        try XWingPublicKey.checkX25519(Array(ciphertext.extracting(last: 32)))
        guard let secret = try? key.decapsulate(Data(Array(ciphertext))) else {
            throw CryptoError(.backendFailure, "X-Wing's decapsulation failed")
        }
        sharedSecret.write(SecretBytes(copying: secret).bytes)
    }
}
