import CPushCryptOpenSSL
import PushCryptPrimitives

/// The cipher that a PBES2 scheme and a passphrase give, for one text.
///
/// The passphrase goes in with the scheme, so that OpenSSL has none to ask for on the terminal.
final class PBES2Cipher {
    private let context: OpaquePointer

    static let wrongPassphrase = KeyContainerError(
        .wrongPassphrase, "the passphrase is wrong, or the container was damaged")

    /// - Parameters:
    ///   - scheme: a DER AlgorithmIdentifier that passed `PBES2.check` or was made here.
    ///   - passphrase: any bytes.
    init(_ scheme: Span<UInt8>, _ passphrase: SecretBytes, _ direction: CipherContext.Direction) throws {
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
        let result = passphrase.bytes.withUnsafeBytes { bytes in
            EVP_PBE_CipherInit(
                algorithm.pointee.algorithm, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), passphraseCount,
                algorithm.pointee.parameter, context, direction == .seal ? 1 : 0)
        }
        if result != 1 {
            EVP_CIPHER_CTX_free(context)
        }
        try check(result, or: Self.unsupported)
        self.context = context
    }

    deinit {
        EVP_CIPHER_CTX_free(context)
    }

    /// The plaintext of the ciphertext, or the other way round.
    ///
    /// - Throws: `KeyContainerError` with `wrongPassphrase` where the padding isn't right.
    func process(_ input: Span<UInt8>) throws -> SecretBytes {
        var count = 0
        let output = try SecretBytes(count: input.count + Int(EVP_MAX_BLOCK_LENGTH)) { output in
            count = try output.withUnsafeMutableBufferPointer { output in
                try process(input, into: output.baseAddress!)
            }
        }
        return SecretBytes(copying: output.bytes.extracting(first: count))
    }

    private func process(_ input: Span<UInt8>, into output: UnsafeMutablePointer<UInt8>) throws -> Int {
        var (updated, finished): (Int32, Int32) = (0, 0)
        let result = input.withUnsafeBufferPointer { input in
            EVP_CipherUpdate(context, output, &updated, input.baseAddress, Int32(input.count))
        }
        try check(result, or: Self.wrongPassphrase)
        try check(EVP_CipherFinal_ex(context, output + Int(updated), &finished), or: Self.wrongPassphrase)
        return Int(updated + finished)
    }

    private static let unsupported = KeyContainerError(
        .unsupportedEncryption, "OpenSSL doesn't have the cipher or key derivation, or not with these parameters")
}
