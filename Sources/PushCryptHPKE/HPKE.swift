public import PushCryptPrimitives

/// Hybrid Public Key Encryption (RFC 9180) with one ciphersuite, over one backend.
///
/// The files are named after the RFC's sections, and the RFC's pseudo-code is above the code that implements it.
/// A value is immutable and contains no key. Make it once and use it for all messages.
///
/// The arguments `psk` and `senderKey` of a function select the mode: psk with only a `psk`, auth with only a `senderKey`,
/// auth_psk with both, and base with neither.
public struct HPKE: Sendable {
    /// The key encapsulation mechanism.
    public let kem: KEM
    /// The AEAD that encrypts messages.
    public let aead: AEAD
    let backend: any CryptoBackend
    let labels: LabeledKDF
    let kemLabels: LabeledKDF
    /// LabeledExtract("", "psk_id_hash", ""), for the modes without a PSK.
    let emptyPSKIDHash: SecretBytes

    /// The KDF is HKDF-SHA256 (0x0001), which the DHKEMs use too.
    public init(kem: KEM, aead: AEAD, backend: any CryptoBackend) {
        self.kem = kem
        self.aead = aead
        self.backend = backend
        labels = LabeledKDF(suiteID: Self.suiteID(kem: kem, aead: aead), backend: backend)
        kemLabels = LabeledKDF(suiteID: kem.suiteID, backend: backend)
        let labels = self.labels
        emptyPSKIDHash = SecretBytes(count: HKDF.hashByteCount) { hash in
            labels.extract(salt: .init(), "psk_id_hash", into: &hash)
        }
    }
}

/// An error of HPKE, with the names of RFC 9180. It contains no key, plaintext or ciphertext bytes.
public struct HPKEError: DescribedError, Hashable, Sendable {
    /// The kind of failure; more may be added.
    public struct Code: Hashable, Sendable {
        let name: String
        /// The ciphertext doesn't open under this context (OpenError). The reason isn't revealed.
        public static let open = Code(name: "OpenError")
        /// `enc` or a key can't be deserialised, or the shared secret is degenerate (ValidationError, DeserializeError).
        public static let validation = Code(name: "ValidationError")
        /// The context has sealed or opened as many messages as it can (MessageLimitReachedError).
        public static let messageLimitReached = Code(name: "MessageLimitReachedError")
        /// No candidate scalar is valid (DeriveKeyPairError); the probability is 2^-8192.
        public static let deriveKeyPair = Code(name: "DeriveKeyPairError")
        /// A PSK shorter than 32 bytes or an empty psk_id (section 5.1).
        public static let invalidPSK = Code(name: "invalidPSK")
        /// Seal() or Open() in an export-only context (section 7.3).
        public static let exportOnly = Code(name: "exportOnly")
        /// An auth mode or DeriveKeyPair() with X-Wing, which has neither here.
        public static let unsupported = Code(name: "unsupported")
        /// Export() of more than 8,160 bytes, or input keying material shorter than a private key.
        public static let invalidLength = Code(name: "invalidLength")
    }

    /// The kind of failure.
    public let code: Code

    /// - Parameter code: the kind of failure.
    public init(_ code: Code) { self.code = code }

    /// The code's name.
    public var description: String { "HPKE: \(code.name)" }
}
