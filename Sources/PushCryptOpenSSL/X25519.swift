import CPushCryptOpenSSL
import PushCryptPrimitives

/// `@unchecked Sendable`: OpenSSL counts references atomically and an EVP_PKEY is not changed after it was made.
final class X25519PublicKey: DHPublicKey, @unchecked Sendable {
    let serialized: [UInt8]
    fileprivate let key: OpaquePointer

    var group: DHGroup { .x25519 }

    /// RFC 7748 section 5: every 32-byte string is a public key; the degenerate ones show in the shared secret.
    init(_ serialized: Span<UInt8>) throws {
        guard serialized.count == DHGroup.x25519.publicKeyByteCount else {
            throw CryptoError(.invalidPublicKey, "an X25519 public key has 32 bytes")
        }
        key = try ThreadContext.current.x25519().publicKey(serialized)
        self.serialized = serialized.withUnsafeBufferPointer { Array($0) }
    }

    deinit {
        EVP_PKEY_free(key)
    }

    /// u = 9, RFC 7748 section 4.1.
    fileprivate static let basePoint: [UInt8] = [9] + [UInt8](repeating: 0, count: 31)
}

/// `@unchecked Sendable`: as for the public key.
final class X25519PrivateKey: DHPrivateKey, @unchecked Sendable {
    private let key: OpaquePointer
    private let scalar: SecretBytes
    let publicKey: any DHPublicKey

    static func generate() throws -> X25519PrivateKey {
        let scalar = try OpenSSLBackend().randomSecret(count: DHGroup.privateKeyByteCount)
        return try X25519PrivateKey(scalar.bytes)
    }

    /// RFC 7748 section 6.1: the public key is X25519(scalar, 9).
    ///
    /// OpenSSL's own key generation and raw import derive the public key by the slower Edwards arithmetic. Here the
    /// key object is made with u = 9 in place of its public key, which a derivation never looks at, and the public
    /// key is derived as a shared secret with u = 9. That object is not handed out.
    init(_ serialized: Span<UInt8>) throws {
        let importer = try ThreadContext.current.x25519()
        let scalar = SecretBytes(copying: serialized)
        let key = try importer.privateKey(scalar)
        do {
            let derived = try Self.derive(key, with: importer.basePoint)
            publicKey = try X25519PublicKey(derived.bytes)
        } catch {
            EVP_PKEY_free(key)
            throw error
        }
        self.key = key
        self.scalar = scalar
    }

    deinit {
        EVP_PKEY_free(key)
    }

    var serialized: SecretBytes { scalar }

    func sharedSecret(with peer: any DHPublicKey) throws -> SecretBytes {
        guard let peer = peer as? X25519PublicKey else {
            throw CryptoError(.keyMismatch, "the other key is not an X25519 key of this backend")
        }
        return try Self.derive(key, with: peer.key)
    }

    /// X25519 (RFC 7748 section 5). OpenSSL refuses an all-zero result itself; the check is repeated here because
    /// RFC 9180 section 7.1.4 makes it ours.
    private static func derive(_ key: OpaquePointer, with peer: OpaquePointer) throws -> SecretBytes {
        let context = try unwrap(EVP_PKEY_CTX_new_from_pkey(nil, key, nil), "EVP_PKEY_CTX_new_from_pkey")
        defer { EVP_PKEY_CTX_free(context) }
        try check(EVP_PKEY_derive_init(context), "EVP_PKEY_derive_init")
        try check(EVP_PKEY_derive_set_peer_ex(context, peer, 0), "EVP_PKEY_derive_set_peer_ex")
        let secret = try SecretBytes(count: DHGroup.sharedSecretByteCount) { bytes in
            try bytes.withUnsafeMutableBufferPointer { buffer in
                var count = buffer.count
                try check(
                    EVP_PKEY_derive(context, buffer.baseAddress, &count), "X25519", .degenerateSharedSecret)
            }
        }
        if constantTimeEqual(secret.bytes, zeroSecret.bytes) {
            throw CryptoError(.degenerateSharedSecret, "X25519")
        }
        return secret
    }

    private static let zeroSecret = [UInt8](repeating: 0, count: DHGroup.sharedSecretByteCount)
}

/// Makes X25519 key objects from bytes with one reused context: half the cost of EVP_PKEY_new_raw_public_key, and
/// without the derivation of a public key that EVP_PKEY_new_raw_private_key adds.
final class X25519Importer {
    private let context: OpaquePointer
    /// A public key object with u = 9.
    let basePoint: OpaquePointer

    init() throws {
        let made = EVP_PKEY_CTX_new_from_name(nil, "X25519", nil)
        context = try unwrap(made, "EVP_PKEY_CTX_new_from_name X25519")
        do {
            try check(EVP_PKEY_fromdata_init(context), "EVP_PKEY_fromdata_init")
            basePoint = try Self.importKey(context, X25519PublicKey.basePoint.bytes, nil)
        } catch {
            EVP_PKEY_CTX_free(context)
            throw error
        }
    }

    deinit {
        EVP_PKEY_free(basePoint)
        EVP_PKEY_CTX_free(context)
    }

    func publicKey(_ bytes: Span<UInt8>) throws -> OpaquePointer {
        try Self.importKey(context, bytes, nil)
    }

    /// A key object that derives with `scalar` and holds u = 9 for its public key.
    func privateKey(_ scalar: SecretBytes) throws -> OpaquePointer {
        try Self.importKey(context, X25519PublicKey.basePoint.bytes, scalar)
    }

    private static func importKey(
        _ context: OpaquePointer, _ publicKey: Span<UInt8>, _ scalar: SecretBytes?
    ) throws -> OpaquePointer {
        var key: OpaquePointer?
        let selection = scalar == nil ? pushcrypt_pkey_public_key : pushcrypt_pkey_keypair
        let result = publicKey.withUnsafeBufferPointer { publicBytes in
            var parameters = [pushcrypt_param_public_key(publicBytes.baseAddress, publicBytes.count)]
            guard let scalar else {
                parameters.append(OSSL_PARAM_construct_end())
                return EVP_PKEY_fromdata(context, &key, selection, &parameters)
            }
            return scalar.bytes.withUnsafeBufferPointer { scalarBytes in
                parameters.append(pushcrypt_param_private_key(scalarBytes.baseAddress, scalarBytes.count))
                parameters.append(OSSL_PARAM_construct_end())
                return EVP_PKEY_fromdata(context, &key, selection, &parameters)
            }
        }
        try check(result, "EVP_PKEY_fromdata X25519")
        return try unwrap(key, "EVP_PKEY_fromdata X25519")
    }
}
