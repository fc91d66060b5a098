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
        guard let passphraseCount = Int32(exactly: passphrase.count) else {
            throw CryptoError(.invalidLength, "a passphrase has less than 2 GiB")
        }
        let decoded = scheme.withUnsafeBufferPointer { bytes in
            var position = bytes.baseAddress
            return d2i_X509_ALGOR(nil, &position, bytes.count)
        }
        let algorithm = try unwrap(decoded, "d2i_X509_ALGOR")
        defer { X509_ALGOR_free(algorithm) }
        let context = try unwrap(EVP_CIPHER_CTX_new(), "EVP_CIPHER_CTX_new")
        defer { EVP_CIPHER_CTX_free(context) }
        try check(
            "OpenSSL doesn't support the cipher, the key derivation or their parameters, or it lacks memory",
            orThrow: .invalidParameters
        ) {
            passphrase.bytes.withUnsafeBytes { bytes in
                EVP_PBE_CipherInit(
                    algorithm.pointee.algorithm, bytes.baseAddress?.assumingMemoryBound(to: CChar.self),
                    passphraseCount, algorithm.pointee.parameter, context, direction == .encrypt ? 1 : 0)
            }
        }
        var (updatedCount, finishedCount): (Int32, Int32) = (0, 0)
        let output = try SecretBytes(count: input.count + Int(EVP_MAX_BLOCK_LENGTH)) { output in
            try output.withUnsafeMutableBufferPointer { output in
                try check("EVP_CipherUpdate", orThrow: .authenticationFailure) {
                    input.withUnsafeBufferPointer { input in
                        EVP_CipherUpdate(
                            context, output.baseAddress, &updatedCount, input.baseAddress, Int32(input.count))
                    }
                }
                try check("EVP_CipherFinal_ex", orThrow: .authenticationFailure) {
                    EVP_CipherFinal_ex(context, output.baseAddress! + Int(updatedCount), &finishedCount)
                }
            }
        }
        return SecretBytes(copying: output.bytes.extracting(first: Int(updatedCount + finishedCount)))
    }
}
