/// The Diffie-Hellman groups of RFC 9180 section 7.1 that pushcrypt offers.
public enum DHGroup: Sendable, CaseIterable {
    /// NIST P-256.
    case p256
    /// Curve25519 in Montgomery form (RFC 7748).
    case x25519

    /// Npk, the length in bytes of a serialised public key: SEC 1 uncompressed for P-256, RFC 7748 for X25519.
    public var publicKeyByteCount: Int { self == .p256 ? 65 : 32 }
    /// Nsk, the length in bytes of a serialised private key.
    public static let privateKeyByteCount = 32
    /// Ndh, the length in bytes of a shared secret: the x-coordinate for P-256.
    public static let sharedSecretByteCount = 32
}

extension DHGroup: CustomStringConvertible {
    /// The curve's name in JWKs (RFC 7518 section 6.2.1.1, RFC 8037 section 3.1): `P-256` or `X25519`.
    public var description: String { self == .p256 ? "P-256" : "X25519" }
}

extension DHGroup {
    /// - Throws: `CryptoError` with `invalidPrivateKey` unless `serialized` has Nsk bytes.
    public static func checkPrivateKeyLength(_ serialized: Span<UInt8>) throws(CryptoError) {
        guard serialized.count == privateKeyByteCount else {
            throw CryptoError(.invalidPrivateKey, "a private key has \(privateKeyByteCount) bytes")
        }
    }
}

/// A public key that was validated when it was imported: on the curve, not the point at infinity.
public protocol DHPublicKey: AnyObject, Sendable {
    /// The group that the key belongs to.
    var group: DHGroup { get }
    /// SerializePublicKey(), `group.publicKeyByteCount` bytes.
    var serialized: [UInt8] { get }
}

/// A private key together with its public key.
public protocol DHPrivateKey: AnyObject, Sendable {
    /// The public half.
    var publicKey: any DHPublicKey { get }
    /// SerializePrivateKey(), 32 bytes.
    var serialized: SecretBytes { get throws }
    /// DH(), 32 bytes.
    /// - Throws: `CryptoError` with `degenerateSharedSecret` for an all-zero result, `keyMismatch` for a key of
    ///   another group or backend.
    func sharedSecret(with peer: any DHPublicKey) throws -> SecretBytes
}
