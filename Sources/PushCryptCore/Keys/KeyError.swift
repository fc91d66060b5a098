/// Why a key, a key set or an identifier can't be used. It carries no key bytes.
public struct KeyError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of failure; more may be added.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        let name: String

        /// The code's name.
        public var description: String { name }

        /// Not JSON by the strict rules, or not a JWK or JWK set.
        public static let malformed = Code(name: "malformed")
        /// A key type, curve or `alg` that pushcrypt doesn't offer.
        public static let unsupportedKey = Code(name: "unsupportedKey")
        /// Coordinates off the curve, of small order, of the wrong length, or a private key of another public key.
        public static let invalidKey = Code(name: "invalidKey")
        /// `kid` isn't the thumbprint of the key.
        public static let kidMismatch = Code(name: "kidMismatch")
        /// Two keys of one set have the same `kid`.
        public static let duplicateKey = Code(name: "duplicateKey")
        /// The key's kind is wrong for this use: a recipient's, a sender's, a private or a public key is needed.
        public static let wrongKind = Code(name: "wrongKind")
        /// The key demands a `psk` that this record doesn't hold.
        public static let pskMissing = Code(name: "pskMissing")
        /// No key of the set may seal or sign at this time.
        public static let noKeySeals = Code(name: "noKeySeals")
        /// A device id outside its alphabet or length.
        public static let invalidDeviceID = Code(name: "invalidDeviceID")
        /// A device's own key where a master is needed, or the key of another device.
        public static let wrongDevice = Code(name: "wrongDevice")
        /// A topic outside its alphabet or length.
        public static let invalidTopic = Code(name: "invalidTopic")
        /// A rotation policy whose times contradict each other.
        public static let invalidPolicy = Code(name: "invalidPolicy")
        /// The cryptographic library failed: no entropy, no memory.
        public static let backendFailure = Code(name: "backendFailure")
    }

    /// The kind of failure.
    public let code: Code
    /// What is wrong and where.
    public let reason: String

    /// - Parameter reason: without key bytes.
    public init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    /// The reason.
    public var description: String { reason }
}
