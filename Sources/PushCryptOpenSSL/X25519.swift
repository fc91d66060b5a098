import CPushCryptOpenSSL
import PushCryptPrimitives

/// `@unchecked Sendable`: OpenSSL counts references atomically and an EVP_PKEY is not changed after it was made.
final class X25519PublicKey: DHPublicKey, @unchecked Sendable {
    let serialized: [UInt8]
    fileprivate let key: X25519KeyObject

    var group: DHGroup { .x25519 }

    /// RFC 7748 section 5: every 32-byte string is a public key; the degenerate ones show in the shared secret.
    init(_ serialized: Span<UInt8>) throws {
        key = try ThreadContext.current.pointee.x25519().publicKey(serialized)
        self.serialized = Array(serialized)
    }
}

/// `@unchecked Sendable`: as for the public key.
final class X25519PrivateKey: DHPrivateKey, @unchecked Sendable {
    private let key: X25519KeyObject
    private let agreements = X25519Agreements()
    private let scalar: SecretBytes
    private let point: X25519PublicKey

    var publicKey: any DHPublicKey { point }

    static func generate() throws -> X25519PrivateKey {
        try X25519PrivateKey(OpenSSLBackend().randomSecret(count: DHGroup.privateKeyByteCount))
    }

    convenience init(_ serialized: Span<UInt8>) throws {
        try self.init(SecretBytes(copying: serialized))
    }

    /// RFC 7748 section 6.1: the public key is X25519(scalar, 9).
    private init(_ scalar: SecretBytes) throws {
        let importer = try ThreadContext.current.pointee.x25519()
        let key = try importer.privateKey(scalar.bytes)
        point = try withTemporarySecret(count: DHGroup.x25519.publicKeyByteCount) { derived in
            try X25519Agreement(key).agree(with: importer.basePoint, into: &derived)
            return try X25519PublicKey(derived.span)
        }
        self.key = key
        self.scalar = scalar
    }

    var serialized: SecretBytes { scalar }

    func sharedSecret(with peer: any DHPublicKey) throws -> SecretBytes {
        let peer = try Self.ownKey(peer)
        return try SecretBytes(count: DHGroup.sharedSecretByteCount) { secret in
            try agreements.agree(key, with: peer.key, into: &secret)
        }
    }

    /// With a peer's key that is there for this agreement only.
    func agree(withSerialized peer: Span<UInt8>, into secret: inout MutableSpan<UInt8>) throws {
        let peer = try ThreadContext.current.pointee.x25519().publicKey(peer)
        try agreements.agree(key, with: peer, into: &secret)
    }

    /// With a scalar that lives for this agreement only.
    static func agreeOnce(
        with recipient: any DHPublicKey, into secret: inout MutableSpan<UInt8>,
        appendingPublicKeyTo output: inout [UInt8]
    ) throws {
        let recipient = try ownKey(recipient)
        let importer = try ThreadContext.current.pointee.x25519()
        try withTemporarySecrets(
            DHGroup.privateKeyByteCount, DHGroup.x25519.publicKeyByteCount
        ) { scalar, publicKey in
            try scalar.withUnsafeMutableBufferPointer { buffer in
                try check(RAND_priv_bytes(buffer.baseAddress, Int32(buffer.count)), "RAND_priv_bytes")
            }
            let agreement = try X25519Agreement(importer.privateKey(scalar.span))
            try agreement.agree(with: importer.basePoint, into: &publicKey)
            try agreement.agree(with: recipient.key, into: &secret)
            output.append(contentsOf: publicKey.span)
        }
    }

    private static func ownKey(_ key: any DHPublicKey) throws -> X25519PublicKey {
        guard let key = key as? X25519PublicKey else {
            throw CryptoError(.keyMismatch, "the other key is not an X25519 key of this backend")
        }
        return key
    }
}
