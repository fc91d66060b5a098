public import PushCryptPrimitives

/// The supported KEMs: two of RFC 9180 section 7.1, table 2, whose KDF is HKDF-SHA256, and X-Wing of draft-ietf-hpke-pq.
public enum KEM: UInt16, Sendable, CaseIterable {
    /// DHKEM(P-256, HKDF-SHA256).
    case dhkemP256 = 0x0010
    /// DHKEM(X25519, HKDF-SHA256).
    case dhkemX25519 = 0x0020
    /// X-Wing (draft-connolly-cfrg-xwing-kem), ML-KEM-768 with X25519. It has no AuthEncap.
    case xWing = 0x647a

    /// The type of the keys.
    public var keyPairType: KeyPairType {
        switch self {
        case .dhkemP256: .p256
        case .dhkemX25519: .x25519
        case .xWing: .xWing
        }
    }

    /// The KEM of keys of this type.
    public init(_ type: KeyPairType) {
        switch type {
        case .p256: self = .dhkemP256
        case .x25519: self = .dhkemX25519
        case .xWing: self = .xWing
        }
    }

    /// Nenc, the length of an encapsulated key in bytes.
    public var encByteCount: Int { keyPairType.encapsulatedByteCount }

    /// Section 4.1: `suite_id = concat("KEM", I2OSP(kem_id, 2))`
    var suiteID: [UInt8] { Array("KEM".utf8) + i2osp(rawValue) }
}

extension KEM: CustomStringConvertible {
    /// The name in table 2, as in `DHKEM(P-256, HKDF-SHA256)`, or `X-Wing`.
    public var description: String { self == .xWing ? "\(keyPairType)" : "DHKEM(\(keyPairType), \(HPKE.kdfName))" }
}

/// The AEADs of RFC 9180 section 7.3, table 5.
public enum AEAD: UInt16, Sendable, CaseIterable {
    /// AES-128-GCM.
    case aes128GCM = 0x0001
    /// AES-256-GCM.
    case aes256GCM = 0x0002
    /// ChaCha20Poly1305.
    case chaCha20Poly1305 = 0x0003
    /// No encryption: contexts export secrets only (section 5.3).
    case exportOnly = 0xffff

    /// The primitive; nil for export-only.
    public var algorithm: AEADAlgorithm? {
        switch self {
        case .aes128GCM: .aes128GCM
        case .aes256GCM: .aes256GCM
        case .chaCha20Poly1305: .chaCha20Poly1305
        case .exportOnly: nil
        }
    }
}

extension AEAD: CustomStringConvertible {
    /// The name in table 5, as in `AES-128-GCM`.
    public var description: String { algorithm?.description ?? "Export-only" }
}

extension HPKE {
    /// The only supported KDF of RFC 9180 section 7.2, table 3.
    public static let kdfName = "HKDF-SHA256"
    /// The KDF's identifier in the same table.
    public static let kdfID: UInt16 = 0x0001

    /// Section 5.1:
    /// `suite_id = concat("HPKE", I2OSP(kem_id, 2), I2OSP(kdf_id, 2), I2OSP(aead_id, 2))`
    static func suiteID(kem: KEM, aead: AEAD) -> [UInt8] {
        Array("HPKE".utf8) + i2osp(kem.rawValue) + i2osp(kdfID) + i2osp(aead.rawValue)
    }
}
