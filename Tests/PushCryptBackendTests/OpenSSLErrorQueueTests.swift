import CPushCryptOpenSSL
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

/// OpenSSL has a queue of errors per thread. Other users of OpenSSL in the process would read an error that stays in it as
/// that of a later call.
@Suite struct OpenSSLErrorQueueTests {
    @Test("OpenSSL's error queue is empty after every refusal")
    func isEmptyAfterEveryRefusal() throws {
        let backend = Backends.openSSL.backend
        let zeros = [UInt8](repeating: 0, count: 64)
        let scalar = [UInt8](repeating: 0, count: 32)
        let key = try backend.privateKey(.x25519, [UInt8](repeating: 1, count: 32).bytes)
        let zeroPoint = try backend.publicKey(.x25519, scalar.bytes)
        let verifier = try backend.generateSigningKey().publicKey
        let message = AEADMessage(.aes256GCM, seed: 80, plaintextByteCount: 4, aadByteCount: 4)
        let refusals: [(String, () throws -> Bool)] = [
            ("off the curve", { try cryptoErrorCode { try backend.publicKey(.p256, ([4] + zeros).bytes) } != nil }),
            ("zero scalar", { try cryptoErrorCode { try backend.privateKey(.p256, scalar.bytes) } != nil }),
            ("small order", { try cryptoErrorCode { try key.sharedSecret(with: zeroPoint) } != nil }),
            ("forged tag", { try message.openCode(zeros, with: backend) == .authenticationFailure }),
            ("short ciphertext", { try message.openCode([1], with: backend) == .authenticationFailure }),
            ("forged signature", { !verifier.accepts(zeros, for: [1]) }),
        ]
        for (name, isRefused) in refusals {
            ERR_clear_error()
            #expect(try isRefused(), "\(name)")
            #expect(ERR_peek_error() == 0, "\(name)")
        }
    }
}
