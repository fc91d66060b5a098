import PushCryptOpenSSL
package import PushCryptPrimitives

/// The key in a container: a public key, or a private key and its public key.
package struct ContainedKey: Sendable {
    package enum Algorithm: Sendable, CaseIterable {
        /// ECDH over NIST P-256.
        case p256
        /// RFC 7748.
        case x25519
        /// RFC 8032.
        case ed25519
    }

    package let algorithm: Algorithm
    /// For P-256, 65 bytes, uncompressed (SEC 1 section 2.3.3); for X25519 and Ed25519, 32 bytes.
    package let publicKey: [UInt8]
    /// 32 bytes; nil for a public key. For P-256 the scalar, big-endian and in 1..<n; for X25519 the scalar as in RFC 7748;
    /// for Ed25519 the seed.
    package let privateKey: SecretBytes?

    /// - Throws: `KeyContainerError` with `invalidKey`.
    package init(_ algorithm: Algorithm, privateKey: SecretBytes) throws {
        let backend = OpenSSLBackend()
        self.algorithm = algorithm
        self.privateKey = privateKey
        publicKey = try Self.checked {
            switch algorithm {
            case .p256: try backend.privateKey(.p256, privateKey.bytes).publicKey.serialized
            case .x25519: try backend.privateKey(.x25519, privateKey.bytes).publicKey.serialized
            case .ed25519: try backend.signingKey(privateKey.bytes).publicKey.serialized
            }
        }
    }

    /// A P-256 point must be on the curve. For X25519 and Ed25519 any 32 bytes are accepted, including points of small
    /// order.
    /// - Throws: `KeyContainerError` with `invalidKey`.
    package init(_ algorithm: Algorithm, publicKey: [UInt8]) throws {
        let backend = OpenSSLBackend()
        self.algorithm = algorithm
        privateKey = nil
        self.publicKey = try Self.checked {
            switch algorithm {
            case .p256: try backend.publicKey(.p256, publicKey.bytes).serialized
            case .x25519: try backend.publicKey(.x25519, publicKey.bytes).serialized
            case .ed25519: try backend.verificationKey(publicKey.bytes).serialized
            }
        }
    }

    fileprivate static func checked(_ importKey: () throws -> [UInt8]) throws -> [UInt8] {
        do {
            return try importKey()
        } catch let error as CryptoError where error.code == .invalidPrivateKey || error.code == .invalidPublicKey {
            throw KeyContainerError(.invalidKey, error.reason)
        }
    }
}

extension ContainedKey.Algorithm {
    /// Uncompresses a compressed P-256 point. The result may still be an invalid key.
    func uncompressed(_ bytes: Span<UInt8>) throws -> [UInt8] {
        guard self == .p256, bytes.count == 33 else { return [UInt8](bytes) }
        let point = [UInt8](bytes)
        return try ContainedKey.checked { try OpenSSLBackend().uncompressedP256Point(point.bytes) }
    }
}
