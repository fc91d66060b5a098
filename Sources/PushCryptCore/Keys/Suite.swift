package import PushCryptHPKE
package import PushCryptPrimitives

/// The algorithms of messages to a key (PROTOCOL section 3). A suite belongs to a key; a message never contains it.
///
/// Sealing uses the identifiers here, and every text about a suite is derived from them.
public struct Suite: RawRepresentable, Hashable, Sendable, CaseIterable {
    /// The number in the protocol's table of suites: 1, 2 or 4.
    public let rawValue: UInt8

    /// Makes a suite from 1, 2 or 4; nil for another number.
    public init?(rawValue: UInt8) {
        self.init(rawValue)
        guard Self.allCases.contains(self) else { return nil }
    }

    private init(_ rawValue: UInt8) { self.rawValue = rawValue }

    /// HPKE with DHKEM(P-256, HKDF-SHA256), HKDF-SHA256, AES-256-GCM; its private key may be in a Secure Enclave.
    public static let p256 = Suite(1)
    /// HPKE with DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, AES-128-GCM.
    public static let x25519 = Suite(2)
    /// A shared 256-bit secret: HKDF-SHA256 and AES-256-GCM.
    public static let shared = Suite(4)

    /// Every suite, by number.
    public static let allCases: [Suite] = [.p256, .x25519, .shared]

    /// The KEM of HPKE; nil for suite 4.
    package var kem: KEM? {
        switch self {
        case .p256: .dhkemP256
        case .x25519: .dhkemX25519
        default: nil
        }
    }

    /// The AEAD that encrypts the message.
    package var aead: AEAD {
        switch self {
        case .p256: .aes256GCM
        case .x25519: .aes128GCM
        default: SharedSecretScheme.aead
        }
    }

    /// The group of the key pairs; nil for suite 4.
    package var group: DHGroup? { kem?.group }

    /// The suite of key pairs of a group.
    init(_ group: DHGroup) {
        switch group {
        case .p256: self = .p256
        case .x25519: self = .x25519
        }
    }

    /// The length of `enc` or of the salt before the ciphertext.
    package var headerByteCount: Int { kem?.encByteCount ?? SharedSecretScheme.saltByteCount }

    /// How much longer `sealed` is than the plaintext, in bytes.
    package var overheadByteCount: Int { headerByteCount + AEADAlgorithm.tagByteCount }
}

extension Suite: CustomStringConvertible {
    /// The kind of key and the AEAD, as in `HPKE P-256, AES-256-GCM`.
    public var description: String { group.map { "HPKE \($0), \(aead)" } ?? "shared secret, \(aead)" }
}

extension Suite {
    private static let p256HPKE = HPKE(kem: .dhkemP256, aead: Suite.p256.aead, backend: DefaultBackend.shared)
    private static let x25519HPKE = HPKE(kem: .dhkemX25519, aead: Suite.x25519.aead, backend: DefaultBackend.shared)

    /// HPKE for the keys of a group. The values for the platform's backend are made only once.
    static func hpke(_ group: DHGroup, backend: any CryptoBackend) -> HPKE {
        if backend.name == DefaultBackend.shared.name { return group == .p256 ? p256HPKE : x25519HPKE }
        let kem: KEM = group == .p256 ? .dhkemP256 : .dhkemX25519
        return HPKE(kem: kem, aead: Suite(group).aead, backend: backend)
    }
}

/// The algorithm of a key, a suite or Ed25519 for a sender's key, and its names in JWKs (RFC 7518, RFC 8037) and keysets.
package enum KeyAlgorithm: Hashable, Sendable, CaseIterable {
    case suite(Suite)
    case ed25519

    package static let allCases: [KeyAlgorithm] = Suite.allCases.map(KeyAlgorithm.suite) + [.ed25519]

    /// The group of a recipient's key pair; nil for other keys.
    package var group: DHGroup? {
        if case .suite(let suite) = self { suite.group } else { nil }
    }

    /// The kind of a key with this algorithm.
    package var kind: KeyKind {
        switch self {
        case .suite(.shared): .shared
        case .suite: .recipient
        case .ed25519: .sender
        }
    }

    /// The JWK's key type.
    var kty: String {
        switch self {
        case .suite(.p256): "EC"
        case .suite(.shared): "oct"
        default: "OKP"
        }
    }

    /// The JWK's curve; a secret has none.
    var crv: String? {
        switch self {
        case .suite(let suite): suite.group?.description
        case .ed25519: "Ed25519"
        }
    }

    /// The JWK's algorithm.
    var alg: String {
        switch self {
        case .suite(.p256): "HPKE-7"
        case .suite(.x25519): "HPKE-3"
        case .suite: "HKDF-A256GCM"
        case .ed25519: "Ed25519"
        }
    }
}

extension KeyAlgorithm: RawRepresentable {
    /// The name in keysets and on the command line: `p256`, `x25519`, `shared` or `ed25519`.
    package var rawValue: String {
        switch self {
        case .suite(.p256): "p256"
        case .suite(.x25519): "x25519"
        case .suite: "shared"
        case .ed25519: "ed25519"
        }
    }

    package init?(rawValue: String) {
        guard let algorithm = Self.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
        self = algorithm
    }
}

extension KeyAlgorithm: CustomStringConvertible {
    /// The name, the algorithms and the suite's number, as in `p256: HPKE with P-256 and AES-256-GCM, suite 1`.
    package var description: String {
        switch self {
        case .suite(let suite):
            let scheme = suite.group.map { "HPKE with \($0)" } ?? "HKDF-SHA256"
            return "\(rawValue): \(scheme) and \(suite.aead), suite \(suite.rawValue)"
        case .ed25519: return "\(rawValue): Ed25519 signatures"
        }
    }
}

extension KeyRecord {
    /// The key's algorithm.
    package var algorithm: KeyAlgorithm { material.algorithm }
}

extension KeyRecord.Material {
    /// The key's algorithm.
    var algorithm: KeyAlgorithm {
        switch self {
        case .recipient(let publicKey, _, _): .suite(Suite(publicKey.group))
        case .shared: .suite(.shared)
        case .sender: .ed25519
        }
    }
}
