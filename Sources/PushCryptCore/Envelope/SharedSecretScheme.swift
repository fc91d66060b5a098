import PushCryptHPKE
import PushCryptPrimitives

/// Suite 4 (PROTOCOL section 3).
///
/// ```
/// sealed = salt(16) || AES-256-GCM(key: okm[0..<32], nonce: okm[32..<44], aad: empty, plaintext)
/// prk    = HKDF-Extract(salt, K)
/// okm    = HKDF-Expand(prk, info, 44)
/// ```
/// The salt is fresh for every message, so that no key has a nonce budget.
final class SharedSecretScheme: Sendable {
    static let saltByteCount = 16
    static let aead = AEAD.aes256GCM

    private let secret: SecretBytes
    private let backend: any CryptoBackend

    init(secret: SecretBytes, backend: any CryptoBackend) {
        self.secret = secret
        self.backend = backend
    }

    func seal(_ plaintext: Span<UInt8>, info: Span<UInt8>, appendingTo sealed: inout [UInt8]) throws {
        try withTemporarySecret(count: Self.saltByteCount) { salt in
            try backend.randomBytes(into: &salt)
            try withKeyAndNonce(salt: salt.span, info: info) { key, nonce in
                sealed.append(contentsOf: salt.span)
                try backend.seal(
                    .aes256GCM, key: key, nonce: nonce, aad: .init(), plaintext: plaintext, appendingTo: &sealed)
            }
        }
    }

    func open(_ sealed: Span<UInt8>, info: Span<UInt8>) throws -> [UInt8] {
        guard sealed.count >= Suite.shared.overheadByteCount else {
            throw CryptoError(.authenticationFailure, "AEAD")
        }
        return try withKeyAndNonce(salt: sealed.extracting(first: Self.saltByteCount), info: info) { key, nonce in
            try backend.open(
                .aes256GCM, key: key, nonce: nonce, aad: .init(),
                ciphertext: sealed.extracting(droppingFirst: Self.saltByteCount))
        }
    }

    private func withKeyAndNonce<Result>(
        salt: Span<UInt8>, info: Span<UInt8>, _ body: (Span<UInt8>, Span<UInt8>) throws -> Result
    ) throws -> Result {
        let secret = secret
        return try withTemporarySecrets(HKDF.hashByteCount, 44) { prk, okm in
            HKDF.extract(salt: salt, into: &prk, backend: backend) { hmac in hmac.update(secret.bytes) }
            try backend.withHMACSHA256(key: prk.span) { hmac in
                try HKDF.expand(hmac, into: &okm) { hmac in hmac.update(info) }
            }
            return try body(okm.span.extracting(0..<32), okm.span.extracting(32..<44))
        }
    }

    /// `HMAC-SHA256(key: K as used, "pushcrypt/1 recipient")`: names the recipient in a signature.
    func recipientName() -> [UInt8] {
        let secret = secret
        let hmac = backend.hmacSHA256(key: secret.bytes)
        hmac.update("pushcrypt/1 recipient")
        let name = SecretBytes(count: HKDF.hashByteCount) { code in hmac.finalize(into: &code) }
        return Array(name.bytes)
    }
}
