/// The primitives that pushcrypt requires of a cryptographic library.
///
/// A key works only with the backend that made it. All functions may be called from any thread.
public protocol CryptoBackend: Sendable {
    /// The name in diagnostics and test labels.
    var name: String { get }

    /// Fills `bytes` from the library's CSPRNG for public values, such as salts and message ids.
    func randomBytes(into bytes: inout MutableSpan<UInt8>) throws
    /// Returns `count` bytes of key material from the library's CSPRNG.
    func randomSecret(count: Int) throws -> SecretBytes

    /// Returns the 32-byte SHA-256 digest.
    func sha256(_ message: Span<UInt8>) throws -> [UInt8]
    /// Starts SHA-256 of a message that is read in pieces.
    func sha256() -> any IncrementalSHA256
    /// Starts HMAC-SHA256 (RFC 2104) under `key`, which may have any length.
    func hmacSHA256(key: Span<UInt8>) -> any HMACSHA256
    /// Calls `body` with HMAC-SHA256 under `key`, and wipes its state afterwards.
    func withHMACSHA256<Result>(key: Span<UInt8>, _ body: (any HMACSHA256) throws -> Result) rethrows -> Result

    /// Appends ciphertext and tag to `output`.
    /// - Parameters:
    ///   - key: `algorithm.keyByteCount` bytes.
    ///   - nonce: 12 bytes, never used twice with the same key.
    /// - Throws: `CryptoError` with `invalidLength` for a key or nonce of another length.
    func seal(
        _ algorithm: AEADAlgorithm, key: Span<UInt8>, nonce: Span<UInt8>, aad: Span<UInt8>,
        plaintext: Span<UInt8>, appendingTo output: inout [UInt8]
    ) throws

    /// Returns the plaintext of `ciphertext`, which ends in the 16-byte tag.
    /// - Throws: `CryptoError` with `authenticationFailure`, also for a ciphertext shorter than a tag;
    ///   `invalidLength` for a key or nonce of the wrong length.
    func open(
        _ algorithm: AEADAlgorithm, key: Span<UInt8>, nonce: Span<UInt8>, aad: Span<UInt8>, ciphertext: Span<UInt8>
    ) throws -> [UInt8]

    /// Whether the library has the algorithms of such keys. With X-Wing these are OpenSSL from 3.5 on, and CryptoKit from the
    /// operating systems of 2025 on.
    func supports(_ type: KeyPairType) -> Bool
    /// GenerateKeyPair() of RFC 9180 section 4.
    /// - Throws: `CryptoError` with `unsupportedAlgorithm`.
    func generateKeyPair(_ type: KeyPairType) throws -> any DecapsulationKey
    /// DeserializePrivateKey(): 32 bytes, big-endian and in 1..<n for P-256, RFC 7748 for X25519, the seed for X-Wing.
    /// - Throws: `CryptoError` with `invalidPrivateKey`, `unsupportedAlgorithm`.
    func privateKey(_ type: KeyPairType, _ serialized: Span<UInt8>) throws -> any DecapsulationKey
    /// DeserializePublicKey(), with the checks of RFC 9180 section 7.1.4 that an import can make.
    /// - Throws: `CryptoError` with `invalidPublicKey`, `unsupportedAlgorithm`.
    func publicKey(_ type: KeyPairType, _ serialized: Span<UInt8>) throws -> any EncapsulationKey

    /// Makes an ephemeral key pair, writes DH(skE, pkR), 32 bytes, to `secret`, and appends the serialised pkE to `output`.
    /// - Throws: `CryptoError` with `keyMismatch` for a recipient's key of another type or backend,
    ///   `degenerateSharedSecret`. `output` is unchanged then.
    func agreeOnce(
        _ type: KeyPairType, with recipient: any EncapsulationKey, into secret: inout MutableSpan<UInt8>,
        appendingPublicKeyTo output: inout [UInt8]
    ) throws
    /// Writes DH(key, DeserializePublicKey(serialized)), 32 bytes, to `secret`.
    /// - Throws: the errors of `publicKey` and `DecapsulationKey.sharedSecret(with:)`.
    func agree(
        _ key: any DecapsulationKey, withSerialized serialized: Span<UInt8>, into secret: inout MutableSpan<UInt8>
    ) throws

    /// Encap() of X-Wing: writes the shared secret, 32 bytes, and appends the encapsulated secret to `output`.
    /// - Throws: `CryptoError` with `keyMismatch` for a key of another type or backend, `degenerateSharedSecret`.
    func encapsulate(
        to recipient: any EncapsulationKey, into secret: inout MutableSpan<UInt8>, appendingTo output: inout [UInt8]
    ) throws
    /// Decap() of X-Wing: writes the shared secret, 32 bytes.
    /// - Throws: `CryptoError` with `keyMismatch`, `invalidPublicKey` for a wrong length, `degenerateSharedSecret`.
    func decapsulate(
        _ encapsulated: Span<UInt8>, with key: any DecapsulationKey, into secret: inout MutableSpan<UInt8>
    ) throws

    /// Makes a new Ed25519 key.
    func generateSigningKey() throws -> any SigningKey
    /// Reads an Ed25519 key from its 32-byte seed.
    func signingKey(_ seed: Span<UInt8>) throws -> any SigningKey
    /// Reads an Ed25519 public key from its 32 bytes.
    func verificationKey(_ serialized: Span<UInt8>) throws -> any VerificationKey
}

extension CryptoBackend {
    /// Returns `count` bytes from the library's CSPRNG for public values.
    public func randomBytes(count: Int) throws -> [UInt8] {
        try [UInt8](count: count) { bytes in try randomBytes(into: &bytes) }
    }

    /// Returns HMAC-SHA256 of one message, 32 bytes.
    ///
    /// - Parameter key: of any length.
    public func hmacSHA256(of message: Span<UInt8>, key: Span<UInt8>) -> SecretBytes {
        SecretBytes(count: HKDF.hashByteCount) { code in
            let hmac = hmacSHA256(key: key)
            hmac.update(message)
            hmac.finalize(into: &code)
        }
    }
}

/// Default implementations, for a backend without X-Wing.
extension CryptoBackend {
    /// Whether the type is a group.
    public func supports(_ type: KeyPairType) -> Bool { type != .xWing }

    /// - Throws: `CryptoError` with `keyMismatch`.
    public func encapsulate(
        to recipient: any EncapsulationKey, into secret: inout MutableSpan<UInt8>, appendingTo output: inout [UInt8]
    ) throws { throw CryptoError(.keyMismatch, "this backend has no X-Wing keys") }

    /// - Throws: `CryptoError` with `keyMismatch`.
    public func decapsulate(
        _ encapsulated: Span<UInt8>, with key: any DecapsulationKey, into secret: inout MutableSpan<UInt8>
    ) throws { throw CryptoError(.keyMismatch, "this backend has no X-Wing keys") }
}

/// Default implementations, for a backend that can't avoid the copies.
extension CryptoBackend {
    /// Calls `body` with the result of `hmacSHA256(key:)`.
    public func withHMACSHA256<Result>(key: Span<UInt8>, _ body: (any HMACSHA256) throws -> Result) rethrows -> Result {
        try body(hmacSHA256(key: key))
    }

    /// Agrees with a new key of `generateKeyPair(_:)`.
    public func agreeOnce(
        _ type: KeyPairType, with recipient: any EncapsulationKey, into secret: inout MutableSpan<UInt8>,
        appendingPublicKeyTo output: inout [UInt8]
    ) throws {
        let ephemeral = try generateKeyPair(type)
        let agreed = try ephemeral.sharedSecret(with: recipient)
        secret.write(agreed.bytes)
        output += ephemeral.publicKey.serialized
    }

    /// Agrees with the result of `publicKey(_:_:)`.
    public func agree(
        _ key: any DecapsulationKey, withSerialized serialized: Span<UInt8>, into secret: inout MutableSpan<UInt8>
    ) throws {
        let peer = try publicKey(key.publicKey.type, serialized)
        let agreed = try key.sharedSecret(with: peer)
        secret.write(agreed.bytes)
    }
}

/// SHA-256 of any number of messages in sequence. Not thread-safe.
public protocol IncrementalSHA256: AnyObject {
    /// Adds `bytes` to the message.
    func update(_ bytes: Span<UInt8>)
    /// Returns the 32-byte digest and begins the next message.
    func finalize() -> [UInt8]
}

/// HMAC-SHA256 under one key, of any number of messages in sequence. Not thread-safe.
public protocol HMACSHA256: AnyObject {
    /// Adds `bytes` to the message.
    func update(_ bytes: Span<UInt8>)
    /// Writes the code to the first 32 bytes of `code` and begins the next message.
    func finalize(into code: inout MutableSpan<UInt8>)
}

/// The AEADs of RFC 9180 section 7.3. Each has a 12-byte nonce and a 16-byte tag.
public enum AEADAlgorithm: Sendable, CaseIterable {
    /// AES-128-GCM, with a key of 16 bytes.
    case aes128GCM
    /// AES-256-GCM, with a key of 32 bytes.
    case aes256GCM
    /// ChaCha20-Poly1305 (RFC 8439), with a key of 32 bytes.
    case chaCha20Poly1305

    /// Nk, the key length in bytes.
    public var keyByteCount: Int { self == .aes128GCM ? 16 : 32 }
    /// Nn, the nonce length in bytes.
    public static let nonceByteCount = 12
    /// Nt, the tag length in bytes.
    public static let tagByteCount = 16
}

extension AEADAlgorithm: CustomStringConvertible {
    /// The name in RFC 9180 table 5.
    public var description: String {
        switch self {
        case .aes128GCM: "AES-128-GCM"
        case .aes256GCM: "AES-256-GCM"
        case .chaCha20Poly1305: "ChaCha20Poly1305"
        }
    }
}

/// An Ed25519 private key (RFC 8032, pure).
public protocol SigningKey: AnyObject, Sendable {
    /// The public half.
    var publicKey: any VerificationKey { get }
    /// The 32-byte seed.
    var serialized: SecretBytes { get throws }
    /// The 64-byte signature of `message`.
    func signature(for message: Span<UInt8>) throws -> [UInt8]
}

/// An Ed25519 public key.
public protocol VerificationKey: AnyObject, Sendable {
    /// The key, 32 bytes.
    var serialized: [UInt8] { get }
    /// Whether `signature` is a signature of `message` by this key; false for any other length than 64 bytes.
    ///
    /// OpenSSL doesn't report every lack of memory. Where it doesn't, the backend verifies again and calls the hash before it
    /// returns false.
    /// - Throws: `CryptoError` with `backendFailure` if the library lacks memory or the algorithm.
    func isValid(_ signature: Span<UInt8>, for message: Span<UInt8>) throws -> Bool
}

/// An error of a primitive. It contains no key, plaintext or ciphertext bytes.
public struct CryptoError: DescribedError, Hashable, Sendable {
    /// The kind of failure; more may be added.
    public struct Code: Hashable, Sendable {
        let name: String
        /// The AEAD tag or the signature didn't match.
        public static let authenticationFailure = Code(name: "authenticationFailure")
        /// The bytes are no valid public key: wrong length or form, off the curve, or the point at infinity.
        public static let invalidPublicKey = Code(name: "invalidPublicKey")
        /// The bytes are no valid private key: wrong length, zero, or not below the group order.
        public static let invalidPrivateKey = Code(name: "invalidPrivateKey")
        /// The algorithm doesn't accept this length of a key, nonce or output.
        public static let invalidLength = Code(name: "invalidLength")
        /// The key derivation function or cipher is unknown or doesn't accept these parameters, or the cost exceeds this
        /// library's limits.
        public static let invalidParameters = Code(name: "invalidParameters")
        /// The Diffie-Hellman result is the all-zero string or the point at infinity (RFC 9180 section 7.1.4).
        public static let degenerateSharedSecret = Code(name: "degenerateSharedSecret")
        /// The keys are of different types or backends, or of a type that the operation isn't for.
        public static let keyMismatch = Code(name: "keyMismatch")
        /// The cryptographic library or operating system is too old for the algorithm.
        public static let unsupportedAlgorithm = Code(name: "unsupportedAlgorithm")
        /// The cryptographic library failed for a reason other than its input: no memory, no entropy.
        public static let backendFailure = Code(name: "backendFailure")
    }

    /// The kind of failure.
    public let code: Code
    /// The operation or parameter at fault.
    public let reason: String

    /// - Parameter reason: the operation or parameter at fault, without key bytes.
    public init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    /// The code and the reason.
    public var description: String { "\(code.name): \(reason)" }
}
