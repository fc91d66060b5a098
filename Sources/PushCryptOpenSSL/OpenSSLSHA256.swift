import CPushCryptOpenSSL
import PushCryptPrimitives

/// SHA-256 over a state of its own, which is cleansed: what it has read may have been a secret.
final class OpenSSLSHA256: IncrementalSHA256 {
    private var state = SHA256_CTX()

    init() {
        SHA256_Init(&state)
    }

    deinit {
        OPENSSL_cleanse(&state, MemoryLayout<SHA256_CTX>.size)
    }

    func update(_ bytes: Span<UInt8>) {
        state.update(bytes)
    }

    func finalize() -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
        SHA256_Final(&digest, &state)
        SHA256_Init(&state)
        return digest
    }
}
