import PushCryptHPKE
import PushCryptPrimitives

/// The encryption with one key (PROTOCOL section 3).
///
/// `Key` is `any EncapsulationKey` for sealing and `any DecapsulationKey` for opening. The schemes are classes, because copying
/// a struct retains each of its parts.
enum EncryptionScheme<Key: Sendable>: Sendable {
    /// Suites 1 to 3.
    case hpke(HPKEScheme<Key>)
    /// Suite 4.
    case shared(SharedSecretScheme)

    /// The profile of messages to this key.
    func profile(isSigned: Bool) -> Profile {
        var profile: Profile = isSigned ? .signed : []
        if case .hpke(let scheme) = self, scheme.psk != nil { profile.insert(.psk) }
        return profile
    }

    /// Calls `body` with the secret that only sender and recipient have: K as used (suite 4) or the psk. It is empty if there
    /// is neither.
    func withSecret<Result>(_ body: (Span<UInt8>) throws -> Result) rethrows -> Result {
        switch self {
        case .hpke(let scheme):
            guard let secret = scheme.secret else { return try body(.init()) }
            return try body(secret.bytes)
        case .shared(let scheme): return try scheme.withSecret(body)
        }
    }

    /// Returns R, which identifies the recipient in a signature, 32 bytes.
    ///
    /// ```
    /// R = SHA-256(serialised public key)                     suites 1 to 3; for a day key, the key of its record
    ///     HMAC-SHA256(K as used, "pushcrypt/1 recipient")    suite 4
    /// ```
    func recipientName(backend: any CryptoBackend) throws -> [UInt8] {
        switch self {
        case .hpke(let scheme): try scheme.name ?? backend.sha256(scheme.publicKey.serialized.bytes)
        case .shared(let scheme): scheme.recipientName()
        }
    }
}

/// HPKE with one key (suites 1 to 3).
final class HPKEScheme<Key: Sendable>: Sendable {
    let key: Key
    let publicKey: any EncapsulationKey
    let psk: PSK?
    /// The psk's 32 bytes.
    let secret: SecretBytes?
    /// R of a day key; nil for that of the public key.
    let name: [UInt8]?
    private let hpke: HPKE

    /// - Parameter psk: 32 bytes; its id is the key's `kid`.
    init(
        _ key: Key, _ publicKey: any EncapsulationKey, psk: SecretBytes?, kid: KeyID, name: [UInt8]?,
        backend: any CryptoBackend
    ) throws {
        (self.key, self.name) = (key, name)
        self.publicKey = publicKey
        secret = psk
        self.psk = try psk.map { secret in try PSK(secret, id: Array(kid.utf8)) }
        hpke = Suite.hpke(publicKey.type, backend: backend)
    }
}

extension HPKEScheme where Key == any EncapsulationKey {
    func seal(_ plaintext: Span<UInt8>, info: Span<UInt8>, appendingTo sealed: inout [UInt8]) throws {
        try hpke.seal(plaintext, to: key, info: info, psk: psk, appendingTo: &sealed)
    }
}

extension HPKEScheme where Key == any DecapsulationKey {
    func open(_ sealed: Span<UInt8>, info: Span<UInt8>) throws -> [UInt8] {
        try hpke.open(sealed, with: key, info: info, psk: psk)
    }
}

/// Encryption with a shared secret (suite 4, PROTOCOL section 3).
///
/// ```
/// sealed = salt(16) || AES-256-GCM(key: okm[0..<32], nonce: okm[32..<44], aad: empty, plaintext)
/// prk    = HKDF-Extract(salt, K)
/// okm    = HKDF-Expand(prk, info, 44)
/// ```
/// Each message has a new salt and therefore a new key, so no key is used twice with the same nonce.
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
        guard sealed.count >= Suite.shared.overheadByteCount else { throw CryptoError(.authenticationFailure, "AEAD") }
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

    func withSecret<Result>(_ body: (Span<UInt8>) throws -> Result) rethrows -> Result {
        let secret = secret
        return try body(secret.bytes)
    }

    func recipientName() -> [UInt8] {
        let secret = secret
        let name = backend.hmacSHA256(of: Array("pushcrypt/1 recipient".utf8).bytes, key: secret.bytes)
        return Array(name.bytes)
    }
}
