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
    /// 32 bytes.
    var serialized: [UInt8] { get }
    /// Whether `signature` (64 bytes) is this key's over `message`.
    func isValid(_ signature: Span<UInt8>, for message: Span<UInt8>) -> Bool
}
