import CPushCryptOpenSSL
package import PushCryptPrimitives

extension OpenSSLBackend {
    package enum PasswordBasedDirection: Sendable {
        case encrypt, decrypt
    }

    /// Encrypts or decrypts with PBES2 (RFC 8018 section 6.2): PBKDF2 or scrypt, and a cipher in CBC mode.
    ///
    /// OpenSSL reads the cost from the scheme; the caller must limit it first.
    /// - Parameters:
    ///   - scheme: a DER AlgorithmIdentifier.
    ///   - passphrase: any bytes. OpenSSL would prompt for one on the terminal if there were none.
    /// - Throws: `CryptoError` with `invalidParameters` for a scheme that OpenSSL doesn't have, `authenticationFailure` for
    ///   wrong padding, the usual result of a wrong passphrase, `invalidLength`, `backendFailure`.
    package func passwordBased(
        _ direction: PasswordBasedDirection, _ input: Span<UInt8>, scheme: Span<UInt8>, passphrase: SecretBytes
    ) throws -> SecretBytes {
        let cipher = try PasswordBasedCipher(scheme, passphrase, direction)
        var count = 0
        let output = try SecretBytes(count: input.count + Int(EVP_MAX_BLOCK_LENGTH)) { output in
            count = try output.withUnsafeMutableBufferPointer { output in
                try cipher.process(input, into: output.baseAddress!)
            }
        }
        return SecretBytes(copying: output.bytes.extracting(first: count))
    }
}

/// The cipher of a scheme and a passphrase, for one message.
private final class PasswordBasedCipher {
    private let context: OpaquePointer

    init(_ scheme: Span<UInt8>, _ passphrase: SecretBytes, _ direction: OpenSSLBackend.PasswordBasedDirection) throws {
        guard let passphraseCount = Int32(exactly: passphrase.count) else {
            throw CryptoError(.invalidLength, "a passphrase has less than 2 GiB")
        }
        let decoded = scheme.withUnsafeBufferPointer { bytes in
            var position = bytes.baseAddress
            return d2i_X509_ALGOR(nil, &position, bytes.count)
        }
        let algorithm = try unwrap(decoded, "d2i_X509_ALGOR")
        defer { X509_ALGOR_free(algorithm) }
        context = try unwrap(EVP_CIPHER_CTX_new(), "EVP_CIPHER_CTX_new")
        let result = passphrase.bytes.withUnsafeBytes { bytes in
            EVP_PBE_CipherInit(
                algorithm.pointee.algorithm, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), passphraseCount,
                algorithm.pointee.parameter, context, direction == .encrypt ? 1 : 0)
        }
        try check(
            result, "OpenSSL doesn't have the cipher or key derivation, or not with these parameters",
            .invalidParameters)
    }

    deinit { EVP_CIPHER_CTX_free(context) }

    func process(_ input: Span<UInt8>, into output: UnsafeMutablePointer<UInt8>) throws -> Int {
        var updatedCount: Int32 = 0
        var finishedCount: Int32 = 0
        let result = input.withUnsafeBufferPointer { input in
            EVP_CipherUpdate(context, output, &updatedCount, input.baseAddress, Int32(input.count))
        }
        try check(result, "EVP_CipherUpdate", .authenticationFailure)
        try check(
            EVP_CipherFinal_ex(context, output + Int(updatedCount), &finishedCount), "EVP_CipherFinal_ex",
            .authenticationFailure)
        return Int(updatedCount + finishedCount)
    }
}
