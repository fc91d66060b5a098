/// The types of key pairs that messages are sealed to.
public enum KeyPairType: Sendable, CaseIterable {
    /// NIST P-256.
    case p256
    /// Curve25519 in Montgomery form (RFC 7748).
    case x25519
    /// X-Wing, the hybrid of ML-KEM-768 and X25519 (draft-connolly-cfrg-xwing-kem), for secrets that quantum computers must not
    /// find.
    case xWing

    /// The groups of Diffie-Hellman: all types but X-Wing.
    public static let groups: [KeyPairType] = [.p256, .x25519]

    /// Npk, the length in bytes of a serialised public key: SEC 1 uncompressed for P-256, RFC 7748 for X25519, the public keys of
    /// ML-KEM-768 and X25519 for X-Wing.
    public var publicKeyByteCount: Int {
        switch self {
        case .p256: 65
        case .x25519: 32
        case .xWing: 1_216
        }
    }

    /// Nenc, the length in bytes of an encapsulated secret: an ephemeral public key, or X-Wing's ciphertext.
    public var encapsulatedByteCount: Int { self == .xWing ? 1_120 : publicKeyByteCount }

    /// Nsk, the length in bytes of a serialised private key: a scalar, or X-Wing's seed.
    public static let privateKeyByteCount = 32
    /// Ndh, the length in bytes of a group's shared secret, the x-coordinate for P-256, and Nsecret of X-Wing.
    public static let sharedSecretByteCount = 32
}

extension KeyPairType: CustomStringConvertible {
    /// The curve's name in JWKs (RFC 7518 section 6.2.1.1, RFC 8037 section 3.1), `P-256` or `X25519`, or `X-Wing`.
    public var description: String {
        switch self {
        case .p256: "P-256"
        case .x25519: "X25519"
        case .xWing: "X-Wing"
        }
    }
}

extension KeyPairType {
    /// - Throws: `CryptoError` with `invalidPrivateKey` unless `serialized` has Nsk bytes.
    public static func checkPrivateKeyLength(_ serialized: Span<UInt8>) throws(CryptoError) {
        guard serialized.count == privateKeyByteCount else {
            throw CryptoError(.invalidPrivateKey, "a private key has \(privateKeyByteCount) bytes")
        }
    }
}

/// A public key of a KEM (an encapsulation key in FIPS 203), which was validated when it was imported. A P-256 key is on the curve and not the point at infinity.
public protocol EncapsulationKey: AnyObject, Sendable {
    /// The type of its key pair.
    var type: KeyPairType { get }
    /// SerializePublicKey(), `type.publicKeyByteCount` bytes.
    var serialized: [UInt8] { get }
}

/// A private key of a KEM (a decapsulation key in FIPS 203), with its public key.
public protocol DecapsulationKey: AnyObject, Sendable {
    /// The public half.
    var publicKey: any EncapsulationKey { get }
    /// SerializePrivateKey(), 32 bytes.
    var serialized: SecretBytes { get throws }
    /// DH(), 32 bytes.
    /// - Throws: `CryptoError` with `degenerateSharedSecret` for an all-zero result, `keyMismatch` for a key of another type or
    ///   backend, and for a key of X-Wing.
    func sharedSecret(with peer: any EncapsulationKey) throws -> SecretBytes
}
