import PushCryptPrimitives

/// Suite 4 (PROTOCOL section 3).
///
/// ```
/// sealed = salt(16) || AES-256-GCM(key: okm[0..<32], nonce: okm[32..<44], aad: empty, plaintext)
/// prk    = HKDF-Extract(salt, K)
/// okm    = HKDF-Expand(prk, info, 44)
/// ```
/// The salt is fresh for every message, so that no key has a nonce budget.
struct SharedSecretScheme: Sendable {
    static let saltByteCount = 16

    let secret: SecretBytes
    let backend: any CryptoBackend

    func seal(_ plaintext: Span<UInt8>, info: [UInt8], appendingTo sealed: inout [UInt8]) throws {
        let salt = try backend.randomBytes(count: Self.saltByteCount)
        let okm = try keyAndNonce(salt: salt.bytes, info: info)
        sealed += salt
        try backend.seal(
            .aes256GCM, key: okm.bytes.extracting(0..<32), nonce: okm.bytes.extracting(32..<44), aad: .init(),
            plaintext: plaintext, appendingTo: &sealed)
    }

    func open(_ sealed: Span<UInt8>, info: [UInt8]) throws -> [UInt8] {
        guard sealed.count >= Suite.shared.overheadByteCount else {
            throw CryptoError(.authenticationFailure, "AEAD")
        }
        let okm = try keyAndNonce(salt: sealed.extracting(first: Self.saltByteCount), info: info)
        return try backend.open(
            .aes256GCM, key: okm.bytes.extracting(0..<32), nonce: okm.bytes.extracting(32..<44), aad: .init(),
            ciphertext: sealed.extracting(droppingFirst: Self.saltByteCount))
    }

    private func keyAndNonce(salt: Span<UInt8>, info: [UInt8]) throws -> SecretBytes {
        let prk = HKDF.extract(salt: salt, ikm: secret.bytes, backend: backend)
        return try HKDF.expand(backend.hmacSHA256(key: prk.bytes), info: info.bytes, count: 44)
    }

    /// `HMAC-SHA256(key: K as used, "pushcrypt/1 recipient")`: names the recipient in a signature.
    func recipientName() -> [UInt8] {
        let hmac = backend.hmacSHA256(key: secret.bytes)
        hmac.update(Array("pushcrypt/1 recipient".utf8).bytes)
        let name = SecretBytes(count: HKDF.hashByteCount) { code in hmac.finalize(into: &code) }
        return Array(name.bytes)
    }
}
