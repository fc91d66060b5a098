import CPushCryptOpenSSL
import PushCryptPrimitives
import Testing

@testable import PushCryptOpenSSL

/// What was decrypted and isn't authentic is erased before the memory is freed.
@Suite struct ErasedPlaintextTests {
    @Test("a cipher that fails after it wrote half of the plaintext leaves only zeros in the buffer")
    func failingUpdate() throws {
        let cipher = unsafe try unwrap(EVP_CIPHER_meth_new(NID_undef, 1, 16), "EVP_CIPHER_meth_new")
        defer { unsafe EVP_CIPHER_meth_free(cipher) }
        unsafe EVP_CIPHER_meth_set_flags(cipher, UInt(EVP_CIPH_FLAG_CUSTOM_CIPHER))
        unsafe EVP_CIPHER_meth_set_do_cipher(cipher) { _, output, _, count in
            for index in 0..<count / 2 { unsafe output?[index] = 0xaa }
            return -1
        }
        let context = unsafe try CipherContext(.aes128GCM, .open, cipher)
        #expect(Self.leftover(by: context, of: [UInt8](repeating: 1, count: 80), .backendFailure) == Self.zeros)
    }

    @Test("a ciphertext with a wrong tag leaves only zeros in the buffer", arguments: AEADAlgorithm.allCases)
    func wrongTag(_ algorithm: AEADAlgorithm) throws {
        let context = try CipherContext(algorithm, .open)
        try context.begin(
            key: [UInt8](repeating: 2, count: algorithm.keyByteCount).bytes,
            nonce: [UInt8](repeating: 3, count: 12).bytes, aad: [UInt8]().bytes)
        let leftover = Self.leftover(by: context, of: [UInt8](repeating: 1, count: 80), .authenticationFailure)
        #expect(leftover == Self.zeros)
    }

    private static let zeros = [UInt8](repeating: 0, count: 64)

    /// The plaintext's buffer after the context has refused the ciphertext.
    private static func leftover(
        by context: CipherContext, of ciphertext: [UInt8], _ code: CryptoError.Code
    ) -> [UInt8] {
        [UInt8](count: zeros.count) { plaintext in
            do {
                try context.finishOpening(ciphertext.bytes, into: &plaintext)
                Issue.record("opened")
            } catch {
                #expect((error as? CryptoError)?.code == code)
            }
        }
    }
}
