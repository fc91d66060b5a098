package import PushCryptHPKE
package import PushCryptPrimitives

/// The algorithms of messages to a key (PROTOCOL section 3). A suite belongs to a key; a message never contains it.
///
/// Sealing uses the identifiers here, and every text about a suite is derived from them.
public struct Suite: RawRepresentable, Hashable, Sendable, CaseIterable {
    /// The number in the protocol's table of suites: 1 to 4.
    public let rawValue: UInt8

    /// Makes a suite from 1 to 4; nil for another number.
    public init?(rawValue: UInt8) {
        self.init(rawValue)
        guard Self.allCases.contains(self) else { return nil }
    }

    private init(_ rawValue: UInt8) { self.rawValue = rawValue }

    /// HPKE with DHKEM(P-256, HKDF-SHA256), HKDF-SHA256, AES-256-GCM; its private key may be in a Secure Enclave.
    public static let p256 = Suite(1)
    /// HPKE with DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, AES-128-GCM.
    public static let x25519 = Suite(2)
    /// HPKE with X-Wing, HKDF-SHA256, AES-256-GCM, which later quantum computers can't open either. It needs OpenSSL 3.5 or,
    /// on Apple's systems, those of 2025. See `isAvailable`.
    public static let xWing = Suite(3)
    /// A shared 256-bit secret: HKDF-SHA256 and AES-256-GCM.
    public static let shared = Suite(4)
    /// Every suite, by number.
    public static let allCases: [Suite] = [.p256, .x25519, .xWing, .shared]

    /// The KEM of HPKE; nil for suite 4.
    package var kem: KEM? {
        switch self {
        case .p256: .dhkemP256
        case .x25519: .dhkemX25519
        case .xWing: .xWing
        default: nil
        }
    }

    /// The AEAD that encrypts the message.
    package var aead: AEAD {
        switch self {
        case .p256, .xWing: .aes256GCM
        case .x25519: .aes128GCM
        default: SharedSecretScheme.aead
        }
    }

    /// The type of the key pairs; nil for suite 4.
    package var keyPairType: KeyPairType? { kem?.keyPairType }

    /// The suite of key pairs of a type.
    package init(_ type: KeyPairType) {
        switch type {
        case .p256: self = .p256
        case .x25519: self = .x25519
        case .xWing: self = .xWing
        }
    }

    /// Whether recorded messages stay secret from an attacker who has a quantum computer later: suites 3 and 4.
    package var isPostQuantum: Bool { self == .xWing || self == .shared }

    /// Whether the suite ranks at least as high as another one. Suites 3 and 4 rank above 1 and 2; otherwise suites are equal.
    package func isAtLeast(_ minimum: Suite) -> Bool { isPostQuantum || !minimum.isPostQuantum }

    /// Whether this machine's cryptographic library has the suite's algorithms.
    public var isAvailable: Bool { keyPairType.map(DefaultBackend.shared.supports) ?? true }

    /// The length of `enc` or of the salt before the ciphertext.
    package var headerByteCount: Int { kem?.encByteCount ?? SharedSecretScheme.saltByteCount }

    /// How much longer `sealed` is than the plaintext, in bytes.
    package var overheadByteCount: Int { headerByteCount + AEADAlgorithm.tagByteCount }
}

extension Suite: CustomStringConvertible {
    /// The kind of key and the AEAD, as in `HPKE P-256, AES-256-GCM`.
    public var description: String { keyPairType.map { "HPKE \($0), \(aead)" } ?? "shared secret, \(aead)" }
}

extension Suite {
    private static let p256HPKE = makeHPKE(.p256, DefaultBackend.shared)
    private static let x25519HPKE = makeHPKE(.x25519, DefaultBackend.shared)
    private static let xWingHPKE = makeHPKE(.xWing, DefaultBackend.shared)

    /// HPKE for the keys of a type. The values for the platform's backend are made only once.
    static func hpke(_ type: KeyPairType, backend: any CryptoBackend) -> HPKE {
        guard backend.name == DefaultBackend.shared.name else { return makeHPKE(type, backend) }
        return switch type {
        case .p256: p256HPKE
        case .x25519: x25519HPKE
        case .xWing: xWingHPKE
        }
    }

    private static func makeHPKE(_ type: KeyPairType, _ backend: any CryptoBackend) -> HPKE {
        HPKE(kem: KEM(type), aead: Suite(type).aead, backend: backend)
    }
}

/// The algorithm of a key: a suite or, for the key of a sender or publisher, Ed25519. With its names in keysets and JWKs.
package struct KeyAlgorithm: RawRepresentable, Hashable, Sendable, CaseIterable {
    /// The name in keysets and on the command line.
    package let rawValue: String
    /// nil for Ed25519.
    package let suite: Suite?
    package let kind: KeyKind
    /// The members of a JWK (RFC 7518, RFC 8037, RFC 9964). A secret and an `AKP` key have no curve.
    let kty: String
    let crv: String?
    let alg: String

    package static let p256 = KeyAlgorithm("p256", .p256, .recipient, kty: "EC", crv: "P-256", alg: "HPKE-7")
    package static let x25519 = KeyAlgorithm("x25519", .x25519, .recipient, kty: "OKP", crv: "X25519", alg: "HPKE-3")
    package static let xWing = KeyAlgorithm("xwing", .xWing, .recipient, kty: "AKP", crv: nil, alg: "pushcrypt-3")
    package static let shared = KeyAlgorithm("shared", .shared, .shared, kty: "oct", crv: nil, alg: "HKDF-A256GCM")
    package static let ed25519 = KeyAlgorithm("ed25519", nil, .sender, kty: "OKP", crv: "Ed25519", alg: "Ed25519")

    package static let publisher = KeyAlgorithm(
        "ed25519-publisher", nil, .publisher, kty: "OKP", crv: "Ed25519", alg: "Ed25519")

    package static let allCases: [KeyAlgorithm] = [.p256, .x25519, .xWing, .shared, .ed25519, .publisher]

    /// The member `role` of a publisher's JWK, which distinguishes it from a sender's.
    static let publisherRole = "publisher"

    private init(_ name: String, _ suite: Suite?, _ kind: KeyKind, kty: String, crv: String?, alg: String) {
        rawValue = name
        self.suite = suite
        self.kind = kind
        self.kty = kty
        self.crv = crv
        self.alg = alg
    }

    package init?(rawValue: String) {
        guard let algorithm = Self.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
        self = algorithm
    }

    /// The algorithm of a recipient's key pair.
    package init(_ type: KeyPairType) {
        switch type {
        case .p256: self = .p256
        case .x25519: self = .x25519
        case .xWing: self = .xWing
        }
    }

    /// The type of a recipient's key pair; nil for other keys.
    package var keyPairType: KeyPairType? { suite?.keyPairType }
}

extension KeyAlgorithm: CustomStringConvertible {
    /// The name, the algorithms and the suite's number, as in `p256: HPKE with P-256 and AES-256-GCM, suite 1`.
    package var description: String {
        guard let suite else { return "\(rawValue): Ed25519 signatures" }
        let scheme = suite.keyPairType.map { "HPKE with \($0)" } ?? "HKDF-SHA256"
        return "\(rawValue): \(scheme) and \(suite.aead), suite \(suite.rawValue)"
    }
}
