import CPushCryptOpenSSL
import Foundation
import PushCryptOpenSSL
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

/// OpenSSL has a queue of errors per thread. Other users of OpenSSL in the process would read an error that stays in it as
/// that of a later call.
@Suite struct OpenSSLErrorQueueTests {
    /// Inputs that are refused, with whether the refusal names the input as its cause.
    private static func refusals() throws -> [(String, () throws -> Bool)] {
        let backend = OpenSSLBackend()
        let zeros = [UInt8](repeating: 0, count: 64)
        let scalar = [UInt8](repeating: 0, count: 32)
        let key = try backend.privateKey(.x25519, [UInt8](repeating: 1, count: 32).bytes)
        let zeroPoint = try backend.publicKey(.x25519, scalar.bytes)
        let verifier = try backend.generateSigningKey().publicKey
        let message = AEADMessage(.aes256GCM, seed: 80, plaintextByteCount: 4, aadByteCount: 4)
        let unknownScheme: [UInt8] = [0x30, 4, 6, 2, 0x2a, 3]
        let passphrase = SecretBytes(copying: scalar.bytes)
        let offCurve = [2] + [UInt8](repeating: 7, count: 32)
        func refusal<Result>(_ code: CryptoError.Code, _ body: @escaping () throws -> Result) -> () throws -> Bool {
            { try cryptoErrorCode(body) == code }
        }
        return [
            ("off the curve", refusal(.invalidPublicKey) { try backend.publicKey(.p256, ([4] + zeros).bytes) }),
            ("off the curve, short", refusal(.invalidPublicKey) { try backend.uncompressedP256Point(offCurve.bytes) }),
            ("zero scalar", refusal(.invalidPrivateKey) { try backend.privateKey(.p256, scalar.bytes) }),
            ("small order", refusal(.degenerateSharedSecret) { try key.sharedSecret(with: zeroPoint) }),
            ("forged tag", { try message.openCode(zeros, with: backend) == .authenticationFailure }),
            ("short ciphertext", { try message.openCode([1], with: backend) == .authenticationFailure }),
            ("forged signature", { try !verifier.isValid(zeros.bytes, for: [1].bytes) }),
            (
                "unknown scheme",
                refusal(.invalidParameters) {
                    try backend.passwordBased(
                        .decrypt, zeros.bytes, scheme: unknownScheme.bytes, passphrase: passphrase)
                }
            ),
        ]
    }

    @Test func `OpenSSL's error queue is empty after every refusal`() throws {
        for (name, isRefused) in try Self.refusals() {
            ERR_clear_error()
            #expect(try isRefused(), "\(name)")
            #expect(ERR_peek_error() == 0, "\(name)")
        }
    }

    @Test func `a lack of memory that another user left in the error queue changes no reason`() throws {
        for (name, isRefused) in try Self.refusals() {
            ERR_clear_error()
            ERR_new()
            // ERR_R_MALLOC_FAILURE is a macro that Swift can't read: number 256 with the flags fatal and common.
            unsafe withVaList([]) { none in unsafe ERR_vset_error(ERR_LIB_EVP, 256 | 3 << 18, nil, none) }
            #expect(ERR_peek_error() != 0)
            #expect(try isRefused(), "\(name)")
        }
        ERR_clear_error()
    }
}

@Suite struct OpenSSLExitTests {
    @Test func `a process that uses keys in an exit handler ends with status 0`() async {
        await #expect(processExitsWith: .success) {
            // Handlers run in reverse order: OpenSSL's would run before this one.
            atexit {
                do {
                    let backend = OpenSSLBackend()
                    let key = try backend.generateKeyPair(.x25519)
                    _ = try key.sharedSecret(with: backend.generateKeyPair(.x25519).publicKey)
                } catch {
                    _exit(EXIT_FAILURE)
                }
            }
            _ = try OpenSSLBackend().generateKeyPair(.x25519)
            exit(EXIT_SUCCESS)
        }
    }
}
