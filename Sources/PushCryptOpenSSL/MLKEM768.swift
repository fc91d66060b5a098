import CPushCryptOpenSSL
import PushCryptPrimitives

/// A key of ML-KEM-768 (FIPS 203), which OpenSSL has from 3.5 on.
///
/// The headers of OpenSSL 3.0 suffice: the algorithm is looked up by its name at run time.
/// `@unchecked Sendable`: OpenSSL counts references atomically, and nothing changes the EVP_PKEY.
final class MLKEM768Key: @unchecked Sendable {
    static let publicKeyByteCount = 1_184
    static let ciphertextByteCount = 1_088
    private static let name = "ML-KEM-768"

    private let key: OpaquePointer

    private init(_ key: OpaquePointer) { self.key = key }
    deinit { EVP_PKEY_free(key) }

    /// ML-KEM.KeyGen_internal (FIPS 203 algorithm 16). Every seed of this length is valid. OpenSSL draws random bytes to test the
    /// new key.
    ///
    /// - Parameter seed: d || z, 64 bytes.
    /// - Throws: `CryptoError` with `invalidPrivateKey` for a seed of another length, `unsupportedAlgorithm`, `backendFailure`.
    convenience init(seed: Span<UInt8>) throws {
        guard seed.count == 64 else { throw CryptoError(.invalidPrivateKey, "an ML-KEM-768 seed has 64 bytes") }
        try self.init(Self.makeKey(seed, isPrivate: true))
    }

    /// OpenSSL checks the length and the modulus (FIPS 203 section 7.2).
    ///
    /// - Throws: `CryptoError` with `invalidPublicKey`.
    convenience init(publicKey: Span<UInt8>) throws {
        try self.init(Self.makeKey(publicKey, isPrivate: false))
    }

    /// Whether the OpenSSL of this process has the algorithm.
    static var isAvailable: Bool {
        guard let kem = EVP_KEM_fetch(nil, name, nil) else {
            _ = pushcrypt_clear_errors()
            return false
        }
        EVP_KEM_free(kem)
        return true
    }

    private static func makeKey(_ bytes: Span<UInt8>, isPrivate: Bool) throws -> OpaquePointer {
        _ = pushcrypt_clear_errors()
        guard let context = EVP_PKEY_CTX_new_from_name(nil, name, nil) else {
            if pushcrypt_clear_errors() == 1 { throw lackOfMemory("EVP_PKEY_CTX_new_from_name ML-KEM-768") }
            throw CryptoError(
                .unsupportedAlgorithm,
                "OpenSSL \(OpenSSLLibrary.version) has no ML-KEM: suite 3 (xwing) needs OpenSSL 3.5 or later")
        }
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        try check(EVP_PKEY_fromdata_init(context), "EVP_PKEY_fromdata_init ML-KEM-768")
        if isPrivate {
            try checkRandom(importKey(bytes, true, context, &key), "EVP_PKEY_fromdata ML-KEM-768")
        } else {
            try check("EVP_PKEY_fromdata ML-KEM-768", orThrow: .invalidPublicKey) {
                importKey(bytes, false, context, &key)
            }
        }
        return try unwrap(key, "EVP_PKEY_fromdata ML-KEM-768")
    }

    private static func importKey(
        _ bytes: Span<UInt8>, _ isPrivate: Bool, _ context: OpaquePointer, _ key: inout OpaquePointer?
    ) -> Int32 {
        bytes.withUnsafeBufferPointer { bytes in
            pushcrypt_mlkem_fromdata(context, &key, bytes.baseAddress, bytes.count, isPrivate ? 1 : 0)
        }
    }

    /// The encapsulation key, 1,184 bytes.
    func publicKey() throws -> [UInt8] {
        try [UInt8](count: Self.publicKeyByteCount) { bytes in
            try bytes.withUnsafeMutableBufferPointer { buffer in
                var count = 0
                let result = EVP_PKEY_get_octet_string_param(
                    key, OSSL_PKEY_PARAM_PUB_KEY, buffer.baseAddress, buffer.count, &count)
                try check(result, "EVP_PKEY_get_octet_string_param ML-KEM-768")
            }
        }
    }

    /// ML-KEM.Encaps (FIPS 203 algorithm 20).
    ///
    /// - Parameters:
    ///   - sharedSecret: 32 bytes.
    ///   - ciphertext: 1,088 bytes.
    ///   - randomness: m, 32 bytes, which only tests of published vectors pass; empty for OpenSSL's own.
    func encapsulate(
        into sharedSecret: inout MutableSpan<UInt8>, ciphertext: inout MutableSpan<UInt8>,
        randomness: Span<UInt8>
    ) throws {
        let context = try unwrap(EVP_PKEY_CTX_new_from_pkey(nil, key, nil), "EVP_PKEY_CTX_new_from_pkey ML-KEM-768")
        defer { EVP_PKEY_CTX_free(context) }
        let isReady =
            randomness.isEmpty
            ? EVP_PKEY_encapsulate_init(context, nil)
            : randomness.withUnsafeBufferPointer { pushcrypt_encapsulate_init(context, $0.baseAddress, $0.count) }
        try check(isReady, "EVP_PKEY_encapsulate_init ML-KEM-768")
        try sharedSecret.withUnsafeMutableBufferPointer { secret in
            try ciphertext.withUnsafeMutableBufferPointer { ciphertext in
                var (ciphertextCount, secretCount) = (ciphertext.count, secret.count)
                let result = EVP_PKEY_encapsulate(
                    context, ciphertext.baseAddress, &ciphertextCount, secret.baseAddress, &secretCount)
                try checkRandom(result, "EVP_PKEY_encapsulate ML-KEM-768")
            }
        }
    }

    /// ML-KEM.Decaps (FIPS 203 algorithm 21). A ciphertext that was made for another key, or changed,
    /// gives another secret (implicit rejection).
    ///
    /// - Parameters:
    ///   - ciphertext: 1,088 bytes.
    ///   - sharedSecret: 32 bytes.
    /// - Throws: `CryptoError` with `invalidPublicKey` for a ciphertext of another length, `backendFailure`.
    func decapsulate(_ ciphertext: Span<UInt8>, into sharedSecret: inout MutableSpan<UInt8>) throws {
        guard ciphertext.count == Self.ciphertextByteCount else {
            throw CryptoError(.invalidPublicKey, "an ML-KEM-768 ciphertext has 1,088 bytes")
        }
        let context = try unwrap(EVP_PKEY_CTX_new_from_pkey(nil, key, nil), "EVP_PKEY_CTX_new_from_pkey ML-KEM-768")
        defer { EVP_PKEY_CTX_free(context) }
        try check(EVP_PKEY_decapsulate_init(context, nil), "EVP_PKEY_decapsulate_init ML-KEM-768")
        try sharedSecret.withUnsafeMutableBufferPointer { secret in
            try ciphertext.withUnsafeBufferPointer { ciphertext in
                var count = secret.count
                _ = pushcrypt_clear_errors()
                let result = EVP_PKEY_decapsulate(
                    context, secret.baseAddress, &count, ciphertext.baseAddress, ciphertext.count)
                try check(result, "EVP_PKEY_decapsulate ML-KEM-768")
                // If it lacks memory, OpenSSL 3.5 rejects implicitly and returns 1: the message would seem to be forged.
                if pushcrypt_clear_errors() == 1 { throw lackOfMemory("EVP_PKEY_decapsulate ML-KEM-768") }
            }
        }
    }
}
