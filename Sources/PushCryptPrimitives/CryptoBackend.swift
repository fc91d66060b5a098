/// What a cryptographic library must offer; everything above is written over this.
///
/// Keys made by one backend work with that backend only. All functions may be called from any thread.
public protocol CryptoBackend: Sendable {
    /// A name for diagnostics and test labels.
    var name: String { get }

    /// `count` bytes that may become public (salts, message ids) from the library's CSPRNG.
    func randomBytes(count: Int) throws -> [UInt8]
    /// Fills `bytes` with bytes that may become public.
    func randomBytes(into bytes: inout MutableSpan<UInt8>) throws
    /// `count` bytes of key material from the library's CSPRNG.
    func randomSecret(count: Int) throws -> SecretBytes

    /// The 32-byte SHA-256 digest.
    func sha256(_ message: Span<UInt8>) throws -> [UInt8]
    /// SHA-256 of a message that comes in pieces.
    func sha256() -> any IncrementalSHA256
    /// HMAC-SHA256 (RFC 2104) under `key`, which may have any length.
    func hmacSHA256(key: Span<UInt8>) -> any HMACSHA256
    /// The same for the time of `body` only, after which its state is wiped.
    func withHMACSHA256<Result>(key: Span<UInt8>, _ body: (any HMACSHA256) throws -> Result) rethrows -> Result

    /// Appends ciphertext and tag to `output`.
    ///
    /// - Parameters:
    ///   - key: `algorithm.keyByteCount` bytes.
    ///   - nonce: 12 bytes, never used before with this key.
    /// - Throws: `CryptoError` with `invalidLength` for a key or nonce of another length.
    func seal(
        _ algorithm: AEADAlgorithm, key: Span<UInt8>, nonce: Span<UInt8>, aad: Span<UInt8>,
        plaintext: Span<UInt8>, appendingTo output: inout [UInt8]
    ) throws

    /// The plaintext of `ciphertext`, which ends in the 16-byte tag.
    ///
    /// - Throws: `CryptoError` with `authenticationFailure`, also for a ciphertext shorter than a tag;
    ///   `invalidLength` for a key or nonce of the wrong length.
    func open(
        _ algorithm: AEADAlgorithm, key: Span<UInt8>, nonce: Span<UInt8>, aad: Span<UInt8>, ciphertext: Span<UInt8>
    ) throws -> [UInt8]

    /// GenerateKeyPair().
    func generateKeyPair(_ group: DHGroup) throws -> any DHPrivateKey
    /// DeserializePrivateKey(): 32 bytes, big-endian and in 1..<n for P-256, RFC 7748 for X25519.
    ///
    /// - Throws: `CryptoError` with `invalidPrivateKey`.
    func privateKey(_ group: DHGroup, _ serialized: Span<UInt8>) throws -> any DHPrivateKey
    /// DeserializePublicKey(), with the checks of RFC 9180 section 7.1.4 that an import can make.
    ///
    /// - Throws: `CryptoError` with `invalidPublicKey`.
    func publicKey(_ group: DHGroup, _ serialized: Span<UInt8>) throws -> any DHPublicKey

    /// GenerateKeyPair() for one agreement: DH(skE, pkR) into `secret`, 32 bytes, and pkE, serialised, behind `output`.
    ///
    /// - Throws: `CryptoError` with `keyMismatch` for a recipient of another group or backend,
    ///   `degenerateSharedSecret`; `output` is as it was then.
    func agreeOnce(
        _ group: DHGroup, with recipient: any DHPublicKey, into secret: inout MutableSpan<UInt8>,
        appendingPublicKeyTo output: inout [UInt8]
    ) throws
    /// DH(key, DeserializePublicKey(serialized)) into `secret`, 32 bytes.
    ///
    /// - Throws: as `publicKey` and `DHPrivateKey.sharedSecret(with:)`.
    func agree(
        _ key: any DHPrivateKey, withSerialized serialized: Span<UInt8>, into secret: inout MutableSpan<UInt8>
    ) throws

    /// A fresh Ed25519 key.
    func generateSigningKey() throws -> any SigningKey
    /// An Ed25519 key from its 32-byte seed.
    func signingKey(_ seed: Span<UInt8>) throws -> any SigningKey
    /// An Ed25519 public key from its 32 bytes.
    func verificationKey(_ serialized: Span<UInt8>) throws -> any VerificationKey
}

/// Defaults. A backend that can do the same with less copying has its own.
extension CryptoBackend {
    /// Copies what `randomBytes(count:)` returns.
    public func randomBytes(into bytes: inout MutableSpan<UInt8>) throws {
        let random = try randomBytes(count: bytes.count)
        bytes.write(random.bytes)
    }

    /// Calls `body` with what `hmacSHA256(key:)` returns.
    public func withHMACSHA256<Result>(
        key: Span<UInt8>, _ body: (any HMACSHA256) throws -> Result
    ) rethrows -> Result {
        try body(hmacSHA256(key: key))
    }

    /// Agrees with a key of `generateKeyPair(_:)`.
    public func agreeOnce(
        _ group: DHGroup, with recipient: any DHPublicKey, into secret: inout MutableSpan<UInt8>,
        appendingPublicKeyTo output: inout [UInt8]
    ) throws {
        let ephemeral = try generateKeyPair(group)
        let agreed = try ephemeral.sharedSecret(with: recipient)
        secret.write(agreed.bytes)
        output += ephemeral.publicKey.serialized
    }

    /// Agrees with what `publicKey(_:_:)` returns.
    public func agree(
        _ key: any DHPrivateKey, withSerialized serialized: Span<UInt8>, into secret: inout MutableSpan<UInt8>
    ) throws {
        let peer = try publicKey(key.publicKey.group, serialized)
        let agreed = try key.sharedSecret(with: peer)
        secret.write(agreed.bytes)
    }
}

/// SHA-256 of any number of messages one after the other. Not thread-safe.
public protocol IncrementalSHA256: AnyObject {
    /// Adds `bytes` to the message.
    func update(_ bytes: Span<UInt8>)
    /// The 32-byte digest; begins the next message.
    func finalize() -> [UInt8]
}

/// HMAC-SHA256 under one key, for any number of messages one after the other. Not thread-safe.
public protocol HMACSHA256: AnyObject {
    /// Adds `bytes` to the message.
    func update(_ bytes: Span<UInt8>)
    /// Writes the 32-byte code to the front of `code` and begins the next message.
    func finalize(into code: inout MutableSpan<UInt8>)
}

extension HMACSHA256 {
    /// Adds one byte.
    public func update(_ byte: UInt8) {
        unsafe withUnsafePointer(to: byte) { pointer in
            update(unsafe Span(_unsafeStart: pointer, count: 1))
        }
    }

    /// Adds the UTF-8 bytes of a literal, a label of a key derivation.
    public func update(_ label: StaticString) {
        label.withUTF8Buffer { bytes in update(unsafe Span(_unsafeElements: bytes)) }
    }
}
