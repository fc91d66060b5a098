import CPushCryptOpenSSL
import PushCryptPrimitives

/// One AEAD in one direction. The cipher is set once; each message sets only key and nonce, which makes reuse cheap.
final class CipherContext {
    enum Direction { case seal, open }

    private let context: OpaquePointer
    private let algorithm: AEADAlgorithm

    convenience init(_ algorithm: AEADAlgorithm, _ direction: Direction) throws {
        try self.init(algorithm, direction, Algorithms.shared.cipher(algorithm))
    }

    init(_ algorithm: AEADAlgorithm, _ direction: Direction, _ cipher: OpaquePointer) throws {
        self.algorithm = algorithm
        context = try unwrap(EVP_CIPHER_CTX_new(), "EVP_CIPHER_CTX_new")
        let encrypts: Int32 = direction == .seal ? 1 : 0
        try check(EVP_CipherInit_ex2(context, cipher, nil, nil, encrypts, nil), "EVP_CipherInit_ex2")
    }

    deinit {
        EVP_CIPHER_CTX_free(context)
    }

    func seal(
        key: Span<UInt8>, nonce: Span<UInt8>, aad: Span<UInt8>, plaintext: Span<UInt8>,
        appendingTo output: inout [UInt8]
    ) throws {
        try begin(key: key, nonce: nonce, aad: aad)
        try output.append(count: plaintext.count + AEADAlgorithm.tagByteCount) { sealed in
            try sealed.withUnsafeMutableBufferPointer { buffer in
                let ciphertext = buffer.baseAddress!
                try update(plaintext, into: ciphertext)
                try check(finish(ciphertext + plaintext.count), "EVP_EncryptFinal_ex")
                try control(EVP_CTRL_AEAD_GET_TAG, ciphertext + plaintext.count)
            }
        }
    }

    func open(key: Span<UInt8>, nonce: Span<UInt8>, aad: Span<UInt8>, ciphertext: Span<UInt8>) throws -> [UInt8] {
        try begin(key: key, nonce: nonce, aad: aad)
        let count = ciphertext.count - AEADAlgorithm.tagByteCount
        guard count >= 0 else { throw CryptoError(.authenticationFailure, "AEAD") }
        return try [UInt8](count: count) { plaintext in try finishOpening(ciphertext, into: &plaintext) }
    }

    /// If it throws, it has erased what it decrypted: that is not authentic and must not stay in freed memory.
    func finishOpening(_ ciphertext: Span<UInt8>, into plaintext: inout MutableSpan<UInt8>) throws {
        try plaintext.withUnsafeMutableBufferPointer { buffer in
            let plaintext = buffer.baseAddress ?? Self.emptyOutput
            do {
                try update(ciphertext.extracting(first: buffer.count), into: plaintext)
                try ciphertext.extracting(last: AEADAlgorithm.tagByteCount).withUnsafeBufferPointer { tag in
                    try control(EVP_CTRL_AEAD_SET_TAG, UnsafeMutablePointer(mutating: tag.baseAddress!))
                }
                try check("AEAD", orThrow: .authenticationFailure) { finish(plaintext + buffer.count) }
            } catch {
                OPENSSL_cleanse(plaintext, buffer.count)
                throw error
            }
        }
    }

    func begin(key: Span<UInt8>, nonce: Span<UInt8>, aad: Span<UInt8>) throws {
        guard key.count == algorithm.keyByteCount, nonce.count == AEADAlgorithm.nonceByteCount else {
            throw CryptoError(.invalidLength, "the key has \(algorithm.keyByteCount) bytes and the nonce 12")
        }
        let result = key.withUnsafeBufferPointer { key in
            nonce.withUnsafeBufferPointer { nonce in
                EVP_CipherInit_ex2(context, nil, key.baseAddress, nonce.baseAddress, -1, nil)
            }
        }
        try check(result, "EVP_CipherInit_ex2")
        if !aad.isEmpty { try update(aad, into: nil) }
    }

    private func update(_ input: Span<UInt8>, into output: UnsafeMutablePointer<UInt8>?) throws {
        guard !input.isEmpty else { return }
        let result = input.withUnsafeBufferPointer { input in
            // These AEADs write as many bytes as they read.
            var written: Int32 = 0
            return EVP_CipherUpdate(context, output, &written, input.baseAddress, Int32(input.count))
        }
        try check(result, "EVP_CipherUpdate")
    }

    private func finish(_ end: UnsafeMutablePointer<UInt8>) -> Int32 {
        var written: Int32 = 0
        return EVP_CipherFinal_ex(context, end, &written)
    }

    private func control(_ command: Int32, _ tag: UnsafeMutablePointer<UInt8>) throws {
        let result = EVP_CIPHER_CTX_ctrl(context, command, Int32(AEADAlgorithm.tagByteCount), tag)
        try check(result, "EVP_CIPHER_CTX_ctrl")
    }

    /// The output of an empty plaintext, which nothing is written to. If the pointer were NULL, OpenSSL would read the input
    /// as aad.
    private nonisolated(unsafe) static let emptyOutput = UnsafeMutablePointer<UInt8>.allocate(capacity: 16)
}
