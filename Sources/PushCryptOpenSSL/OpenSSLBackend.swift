import CPushCryptOpenSSL
package import PushCryptPrimitives

/// The primitives of OpenSSL 3.
package struct OpenSSLBackend: CryptoBackend {
    /// Keeps OpenSSL from freeing its memory when the process exits. Otherwise a process that exits while another thread
    /// uses or releases a key may crash (openssl/openssl#6214). It has no effect if the process has used OpenSSL before.
    private static let staysUsableAtExit: Void = { _ = OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil) }()

    package init() { Self.staysUsableAtExit }
    package var name: String { "OpenSSL" }

    package func randomBytes(into bytes: inout MutableSpan<UInt8>) throws {
        try bytes.withUnsafeMutableBufferPointer { buffer in
            try checkRandom(RAND_bytes(buffer.baseAddress, Int32(buffer.count)), "RAND_bytes")
        }
    }

    package func randomSecret(count: Int) throws -> SecretBytes {
        try SecretBytes(count: count) { bytes in try bytes.fillWithPrivateRandom() }
    }

    package func sha256(_ message: Span<UInt8>) throws -> [UInt8] {
        let digest = OpenSSLSHA256()
        digest.update(message)
        return digest.finalize()
    }

    package func sha256() -> any IncrementalSHA256 { OpenSSLSHA256() }
    package func hmacSHA256(key: Span<UInt8>) -> any HMACSHA256 { OpenSSLHMAC(key: key) }

    package func withHMACSHA256<Result>(
        key: Span<UInt8>, _ body: (any HMACSHA256) throws -> Result
    ) rethrows -> Result { try ThreadContext.withHMAC(key: key, body) }

    package func seal(
        _ algorithm: AEADAlgorithm, key: Span<UInt8>, nonce: Span<UInt8>, aad: Span<UInt8>,
        plaintext: Span<UInt8>, appendingTo output: inout [UInt8]
    ) throws {
        try ThreadContext.current.pointee.cipher(algorithm, .seal)
            .seal(key: key, nonce: nonce, aad: aad, plaintext: plaintext, appendingTo: &output)
    }

    package func open(
        _ algorithm: AEADAlgorithm, key: Span<UInt8>, nonce: Span<UInt8>, aad: Span<UInt8>, ciphertext: Span<UInt8>
    ) throws -> [UInt8] {
        try ThreadContext.current.pointee.cipher(algorithm, .open)
            .open(key: key, nonce: nonce, aad: aad, ciphertext: ciphertext)
    }

    package func supports(_ type: KeyPairType) -> Bool { type != .xWing || MLKEM768Key.isAvailable }

    package func generateKeyPair(_ type: KeyPairType) throws -> any DecapsulationKey {
        switch type {
        case .p256: try P256PrivateKey.generate()
        case .x25519: try X25519PrivateKey.generate()
        case .xWing: try XWingPrivateKey(randomSecret(count: KeyPairType.privateKeyByteCount))
        }
    }

    package func privateKey(_ type: KeyPairType, _ serialized: Span<UInt8>) throws -> any DecapsulationKey {
        try KeyPairType.checkPrivateKeyLength(serialized)
        switch type {
        case .p256: return try P256PrivateKey(serialized)
        case .x25519: return try X25519PrivateKey(serialized)
        case .xWing: return try XWingPrivateKey(SecretBytes(copying: serialized))
        }
    }

    package func publicKey(_ type: KeyPairType, _ serialized: Span<UInt8>) throws -> any EncapsulationKey {
        switch type {
        case .p256: try P256PublicKey(serialized)
        case .x25519: try X25519PublicKey(serialized)
        case .xWing: try XWingPublicKey(serialized)
        }
    }

    package func agreeOnce(
        _ type: KeyPairType, with recipient: any EncapsulationKey, into secret: inout MutableSpan<UInt8>,
        appendingPublicKeyTo output: inout [UInt8]
    ) throws {
        switch type {
        case .p256: try P256PrivateKey.agreeOnce(with: recipient, into: &secret, appendingPublicKeyTo: &output)
        case .x25519: try X25519PrivateKey.agreeOnce(with: recipient, into: &secret, appendingPublicKeyTo: &output)
        case .xWing: throw CryptoError(.keyMismatch, "X-Wing has no Diffie-Hellman of two keys")
        }
    }

    package func agree(
        _ key: any DecapsulationKey, withSerialized serialized: Span<UInt8>, into secret: inout MutableSpan<UInt8>
    ) throws {
        switch key {
        case let key as P256PrivateKey: try key.agree(withSerialized: serialized, into: &secret)
        case let key as X25519PrivateKey: try key.agree(withSerialized: serialized, into: &secret)
        default:
            let peer = try publicKey(key.publicKey.type, serialized)
            let agreed = try key.sharedSecret(with: peer)
            secret.write(agreed.bytes)
        }
    }

    package func encapsulate(
        to recipient: any EncapsulationKey, into secret: inout MutableSpan<UInt8>, appendingTo output: inout [UInt8]
    ) throws {
        guard let recipient = recipient as? XWingPublicKey else { throw Self.notXWing }
        try recipient.encapsulate(into: &secret, appendingTo: &output)
    }

    package func decapsulate(
        _ encapsulated: Span<UInt8>, with key: any DecapsulationKey, into secret: inout MutableSpan<UInt8>
    ) throws {
        guard let key = key as? XWingPrivateKey else { throw Self.notXWing }
        try key.decapsulate(encapsulated, into: &secret)
    }

    private static var notXWing: CryptoError {
        CryptoError(.keyMismatch, "the key is not an X-Wing key of this backend")
    }

    package func generateSigningKey() throws -> any SigningKey {
        let seed = try randomSecret(count: Ed25519SigningKey.seedByteCount)
        return try Ed25519SigningKey(seed.bytes)
    }

    package func signingKey(_ seed: Span<UInt8>) throws -> any SigningKey { try Ed25519SigningKey(seed) }

    package func verificationKey(_ serialized: Span<UInt8>) throws -> any VerificationKey {
        try Ed25519VerificationKey(serialized)
    }
}

extension OpenSSLBackend {
    /// scrypt (RFC 7914 section 6).
    /// - Parameters:
    ///   - passphrase: any length below 2 GiB. An empty one is accepted and protects nothing.
    ///   - salt: at least 16 random bytes, new for every passphrase.
    ///   - count: dkLen, the length of the result in bytes, 1 to 2^31 - 1.
    /// - Throws: `CryptoError` with `invalidLength`; `backendFailure` if there isn't enough memory.
    package func scrypt(
        passphrase: Span<UInt8>, salt: Span<UInt8>, parameters: ScryptParameters, count: Int
    ) throws -> SecretBytes {
        // OpenSSL accepts lengths as size_t here and converts them to int.
        let longest = Int(Int32.max)
        guard passphrase.count <= longest, salt.count <= longest, (1...longest).contains(count) else {
            throw CryptoError(.invalidLength, "scrypt reads at most 2^31 - 1 bytes and returns 1 to 2^31 - 1")
        }
        let (n, r, p) = (UInt64(parameters.n), UInt64(parameters.r), UInt64(parameters.p))
        return try SecretBytes(count: count) { key in
            try key.withUnsafeMutableBufferPointer { key in
                let result = passphrase.withUnsafeBytes { passphrase in
                    salt.withUnsafeBufferPointer { salt in
                        EVP_PBE_scrypt(
                            passphrase.baseAddress?.assumingMemoryBound(to: CChar.self), passphrase.count,
                            salt.baseAddress, salt.count, n, r, p, parameters.memoryLimit, key.baseAddress, key.count)
                    }
                }
                try check(result, "scrypt")
            }
        }
    }
}

extension MutableSpan<UInt8> {
    /// Fills the bytes from OpenSSL's CSPRNG for private values.
    mutating func fillWithPrivateRandom() throws {
        try withUnsafeMutableBufferPointer { buffer in
            try checkRandom(RAND_priv_bytes(buffer.baseAddress, Int32(buffer.count)), "RAND_priv_bytes")
        }
    }
}

extension ScryptParameters {
    /// The memory that OpenSSL counts: B has 128 * p * r bytes, V and two working blocks have 128 * r * (N + 2). Without a
    /// limit from the caller, OpenSSL refuses more than 32 MiB.
    fileprivate var memoryLimit: UInt64 { UInt64(memoryInBytes + 128 * r * (p + 2)) }
}
