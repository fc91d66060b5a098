/// What HPKE can refuse or fail at, by the names of RFC 9180. It carries no key, plaintext or ciphertext bytes.
public struct HPKEError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of failure; more may be added.
    public struct Code: Hashable, Sendable {
        let name: String

        /// The ciphertext doesn't open under this context (OpenError). Says nothing of why.
        public static let open = Code(name: "OpenError")
        /// `enc`, or a key, can't be deserialised, or the shared secret is degenerate (ValidationError,
        /// DeserializeError).
        public static let validation = Code(name: "ValidationError")
        /// The sequence number is used up (MessageLimitReachedError).
        public static let messageLimitReached = Code(name: "MessageLimitReachedError")
        /// No candidate scalar is valid (DeriveKeyPairError); happens with probability 2^-8192.
        public static let deriveKeyPair = Code(name: "DeriveKeyPairError")
        /// A PSK shorter than 32 bytes or an empty psk_id (section 5.1).
        public static let invalidPSK = Code(name: "invalidPSK")
        /// Seal() or Open() in an export-only context (section 7.3).
        public static let exportOnly = Code(name: "exportOnly")
        /// Export() of more than 8,160 bytes, or input keying material shorter than a private key.
        public static let invalidLength = Code(name: "invalidLength")
    }

    /// The kind of failure.
    public let code: Code

    /// - Parameter code: the kind of failure.
    public init(_ code: Code) {
        self.code = code
    }

    /// The code's name.
    public var description: String { "HPKE: \(code.name)" }
}
