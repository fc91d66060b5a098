import CPushCryptOpenSSL
public import PushCryptPrimitives

/// The primitives of OpenSSL 3.
public struct OpenSSLBackend: CryptoBackend {
    public init() {}

    public var name: String { "OpenSSL" }

    public func randomBytes(count: Int) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        try check(RAND_bytes(&bytes, Int32(count)), "RAND_bytes")
        return bytes
    }

    public func randomBytes(into bytes: inout MutableSpan<UInt8>) throws {
        try bytes.withUnsafeMutableBufferPointer { buffer in
            try check(RAND_bytes(buffer.baseAddress, Int32(buffer.count)), "RAND_bytes")
        }
    }

    public func randomSecret(count: Int) throws -> SecretBytes {
        try SecretBytes(count: count) { bytes in
            try bytes.withUnsafeMutableBufferPointer { buffer in
                try check(RAND_priv_bytes(buffer.baseAddress, Int32(buffer.count)), "RAND_priv_bytes")
            }
        }
    }

    public func sha256(_ message: Span<UInt8>) throws -> [UInt8] {
        let digest = OpenSSLSHA256()
        digest.update(message)
        return digest.finalize()
    }

    public func sha256() -> any IncrementalSHA256 {
        OpenSSLSHA256()
    }

    public func hmacSHA256(key: Span<UInt8>) -> any HMACSHA256 {
        OpenSSLHMAC(key: key)
    }

    public func withHMACSHA256<Result>(
        key: Span<UInt8>, _ body: (any HMACSHA256) throws -> Result
    ) rethrows -> Result {
        try ThreadContext.withHMAC(key: key, body)
    }

    public func seal(
        _ algorithm: AEADAlgorithm, key: Span<UInt8>, nonce: Span<UInt8>, aad: Span<UInt8>,
        plaintext: Span<UInt8>, appendingTo output: inout [UInt8]
    ) throws {
        try ThreadContext.current.pointee.cipher(algorithm, .seal)
            .seal(key: key, nonce: nonce, aad: aad, plaintext: plaintext, appendingTo: &output)
    }

    public func open(
        _ algorithm: AEADAlgorithm, key: Span<UInt8>, nonce: Span<UInt8>, aad: Span<UInt8>, ciphertext: Span<UInt8>
    ) throws -> [UInt8] {
        try ThreadContext.current.pointee.cipher(algorithm, .open)
            .open(key: key, nonce: nonce, aad: aad, ciphertext: ciphertext)
    }

    public func generateKeyPair(_ group: DHGroup) throws -> any DHPrivateKey {
        switch group {
        case .p256: return try P256PrivateKey.generate()
        case .x25519: return try X25519PrivateKey.generate()
        }
    }

    public func privateKey(_ group: DHGroup, _ serialized: Span<UInt8>) throws -> any DHPrivateKey {
        try group.checkPrivateKeyLength(serialized)
        switch group {
        case .p256: return try P256PrivateKey(serialized)
        case .x25519: return try X25519PrivateKey(serialized)
        }
    }

    public func publicKey(_ group: DHGroup, _ serialized: Span<UInt8>) throws -> any DHPublicKey {
        try group.checkPublicKeyLength(serialized)
        switch group {
        case .p256: return try P256PublicKey(serialized)
        case .x25519: return try X25519PublicKey(serialized)
        }
    }

    public func agreeOnce(
        _ group: DHGroup, with recipient: any DHPublicKey, into secret: inout MutableSpan<UInt8>,
        appendingPublicKeyTo output: inout [UInt8]
    ) throws {
        switch group {
        case .p256: try P256PrivateKey.agreeOnce(with: recipient, into: &secret, appendingPublicKeyTo: &output)
        case .x25519: try X25519PrivateKey.agreeOnce(with: recipient, into: &secret, appendingPublicKeyTo: &output)
        }
    }

    public func agree(
        _ key: any DHPrivateKey, withSerialized serialized: Span<UInt8>, into secret: inout MutableSpan<UInt8>
    ) throws {
        switch key {
        case let key as P256PrivateKey: try key.agree(withSerialized: serialized, into: &secret)
        case let key as X25519PrivateKey: try key.agree(withSerialized: serialized, into: &secret)
        default:
            let peer = try publicKey(key.publicKey.group, serialized)
            let agreed = try key.sharedSecret(with: peer)
            secret.write(agreed.bytes)
        }
    }

    public func generateSigningKey() throws -> any SigningKey {
        let seed = try randomSecret(count: Ed25519SigningKey.seedByteCount)
        return try Ed25519SigningKey(seed.bytes)
    }

    public func signingKey(_ seed: Span<UInt8>) throws -> any SigningKey {
        try Ed25519SigningKey(seed)
    }

    public func verificationKey(_ serialized: Span<UInt8>) throws -> any VerificationKey {
        try Ed25519VerificationKey(serialized)
    }
}
