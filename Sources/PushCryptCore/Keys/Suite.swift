import PushCryptHPKE
import PushCryptPrimitives

/// How messages to a key are sealed (PROTOCOL section 3). It belongs to the key; a message never says it.
public struct Suite: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt8

    public init?(rawValue: UInt8) {
        guard (1...2).contains(rawValue) || rawValue == 4 else { return nil }
        self.rawValue = rawValue
    }

    private init(_ rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// HPKE with DHKEM(P-256, HKDF-SHA256), HKDF-SHA256, AES-256-GCM; its private key may live in a Secure Enclave.
    public static let p256 = Suite(1)
    /// HPKE with DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, AES-128-GCM.
    public static let x25519 = Suite(2)
    /// A shared 256-bit secret: HKDF-SHA256 and AES-256-GCM.
    public static let shared = Suite(4)

    /// Bytes of `enc` or salt that stand before the ciphertext.
    var headerByteCount: Int {
        switch self {
        case .p256: KEM.dhkemP256.encByteCount
        case .x25519: KEM.dhkemX25519.encByteCount
        default: SharedSecretScheme.saltByteCount
        }
    }

    /// Bytes that `sealed` is longer than the plaintext.
    package var overheadByteCount: Int { headerByteCount + AEADAlgorithm.tagByteCount }
}

extension Suite: CustomStringConvertible {
    public var description: String {
        switch self {
        case .p256: "HPKE P-256, AES-256-GCM"
        case .x25519: "HPKE X25519, AES-128-GCM"
        default: "shared secret, AES-256-GCM"
        }
    }
}

extension HPKE {
    /// The HPKE ciphersuite of suite 1 or 2.
    init(group: DHGroup, backend: any CryptoBackend) {
        switch group {
        case .p256: self.init(kem: .dhkemP256, aead: .aes256GCM, backend: backend)
        case .x25519: self.init(kem: .dhkemX25519, aead: .aes128GCM, backend: backend)
        }
    }
}

extension DHGroup {
    var suite: Suite { self == .p256 ? .p256 : .x25519 }
}
