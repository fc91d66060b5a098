import CPushCryptOpenSSL
import PushCryptPrimitives

// Ed25519 (RFC 8032 section 5.1), pure, without a context.

/// `@unchecked Sendable`: OpenSSL counts references atomically, and nothing changes the EVP_PKEY.
final class Ed25519VerificationKey: VerificationKey, @unchecked Sendable {
    static let byteCount = 32
    static let signatureByteCount = 64

    let serialized: [UInt8]
    private let key: OpaquePointer

    init(_ serialized: Span<UInt8>) throws {
        guard serialized.count == Self.byteCount else {
            throw CryptoError(.invalidPublicKey, "an Ed25519 public key has \(Self.byteCount) bytes")
        }
        let key = serialized.withUnsafeBufferPointer { bytes in
            EVP_PKEY_new_raw_public_key_ex(nil, "ED25519", nil, bytes.baseAddress, bytes.count)
        }
        // OpenSSL accepts any 32 bytes here, so only a lack of memory can be the reason.
        self.key = try unwrap(key, "EVP_PKEY_new_raw_public_key_ex")
        self.serialized = serialized.withUnsafeBufferPointer { Array($0) }
    }

    deinit { EVP_PKEY_free(key) }

    /// OpenSSL gives the same result for a wrong signature and for a hash that lacks memory. So a refusal counts only if it is
    /// repeated and then a hash succeeds.
    func isValid(_ signature: Span<UInt8>, for message: Span<UInt8>) throws -> Bool {
        guard signature.count == Self.signatureByteCount else { return false }
        if try verifies(signature, message) { return true }
        if try verifies(signature, message) { return true }
        try Self.checkHash()
        return false
    }

    private func verifies(_ signature: Span<UInt8>, _ message: Span<UInt8>) throws -> Bool {
        let context = try unwrap(EVP_MD_CTX_new(), "EVP_MD_CTX_new")
        defer { EVP_MD_CTX_free(context) }
        try check(EVP_DigestVerifyInit_ex(context, nil, nil, nil, nil, key, nil), "EVP_DigestVerifyInit_ex")
        do {
            try check("EVP_DigestVerify", orThrow: .authenticationFailure) {
                signature.withUnsafeBufferPointer { signature in
                    message.withUnsafeBufferPointer { message in
                        EVP_DigestVerify(
                            context, signature.baseAddress, signature.count, message.baseAddress, message.count)
                    }
                }
            }
            return true
        } catch let error as CryptoError where error.code == .authenticationFailure {
            return false
        }
    }

    /// Hashes an empty message, with the allocations of a verification.
    private static func checkHash() throws {
        let hash = try unwrap(EVP_MD_fetch(nil, "SHA512", nil), "EVP_MD_fetch SHA512")
        defer { EVP_MD_free(hash) }
        try withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Int(SHA512_DIGEST_LENGTH)) { digest in
            try check(EVP_Digest(nil, 0, digest.baseAddress, nil, hash, nil), "EVP_Digest SHA512")
        }
    }
}

/// `@unchecked Sendable`: as for the public key.
final class Ed25519SigningKey: SigningKey, @unchecked Sendable {
    static let seedByteCount = 32

    let publicKey: any VerificationKey
    let serialized: SecretBytes
    private let key: OpaquePointer

    init(_ seed: Span<UInt8>) throws {
        guard seed.count == Self.seedByteCount else {
            throw CryptoError(.invalidPrivateKey, "an Ed25519 private key has \(Self.seedByteCount) bytes")
        }
        let made = seed.withUnsafeBufferPointer { bytes in
            EVP_PKEY_new_raw_private_key_ex(nil, "ED25519", nil, bytes.baseAddress, bytes.count)
        }
        let key = try unwrap(made, "EVP_PKEY_new_raw_private_key_ex")
        do {
            let bytes = try [UInt8](unsafeUninitializedCapacity: Ed25519VerificationKey.byteCount) { buffer, count in
                count = buffer.count
                try check(EVP_PKEY_get_raw_public_key(key, buffer.baseAddress, &count), "EVP_PKEY_get_raw_public_key")
            }
            publicKey = try Ed25519VerificationKey(bytes.bytes)
        } catch {
            EVP_PKEY_free(key)
            throw error
        }
        self.key = key
        serialized = SecretBytes(copying: seed)
    }

    deinit { EVP_PKEY_free(key) }

    func signature(for message: Span<UInt8>) throws -> [UInt8] {
        let context = try unwrap(EVP_MD_CTX_new(), "EVP_MD_CTX_new")
        defer { EVP_MD_CTX_free(context) }
        try check(EVP_DigestSignInit_ex(context, nil, nil, nil, nil, key, nil), "EVP_DigestSignInit_ex")
        // Without memory for the algorithm's identifier, which isn't used here, it succeeds and leaves an error.
        _ = pushcrypt_clear_errors()
        return try [UInt8](unsafeUninitializedCapacity: Ed25519VerificationKey.signatureByteCount) { buffer, count in
            count = buffer.count
            let result = message.withUnsafeBufferPointer { message in
                EVP_DigestSign(context, buffer.baseAddress, &count, message.baseAddress, message.count)
            }
            try check(result, "EVP_DigestSign")
        }
    }
}
