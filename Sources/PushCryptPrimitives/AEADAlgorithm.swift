/// The AEADs of RFC 9180 section 7.3, all with a 12-byte nonce and a 16-byte tag.
public enum AEADAlgorithm: Sendable, CaseIterable {
    /// AES-128-GCM, key of 16 bytes.
    case aes128GCM
    /// AES-256-GCM, key of 32 bytes.
    case aes256GCM
    /// ChaCha20-Poly1305 (RFC 8439), key of 32 bytes.
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
