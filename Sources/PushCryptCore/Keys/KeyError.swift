/// Why a key, a key set or an identifier can't be used. It contains no key bytes.
public struct KeyError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of failure; more may be added.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        let name: String

        /// The code's name.
        public var description: String { name }

        /// The text is not strict JSON, or not a JWK or JWK set.
        public static let malformed = Code(name: "malformed")
        /// pushcrypt doesn't support this key type, curve or `alg`.
        public static let unsupportedKey = Code(name: "unsupportedKey")
        /// The point is off the curve, of small order or of the wrong length, or the private key has another public key.
        public static let invalidKey = Code(name: "invalidKey")
        /// `kid` isn't the thumbprint of the key.
        public static let kidMismatch = Code(name: "kidMismatch")
        /// Two keys of one set have the same `kid`.
        public static let duplicateKey = Code(name: "duplicateKey")
        /// The key has the wrong kind for this use.
        public static let wrongKind = Code(name: "wrongKind")
        /// The key requires a `psk`, which this record doesn't contain.
        public static let pskMissing = Code(name: "pskMissing")
        /// No key of the set seals or signs at this time.
        public static let noKeySeals = Code(name: "noKeySeals")
        /// The device id has a wrong character or length.
        public static let invalidDeviceID = Code(name: "invalidDeviceID")
        /// The key is that of another device.
        public static let wrongDevice = Code(name: "wrongDevice")
        /// The topic has a wrong character or length.
        public static let invalidTopic = Code(name: "invalidTopic")
        /// The times of the rotation policy contradict each other.
        public static let invalidPolicy = Code(name: "invalidPolicy")
        /// The cryptographic library failed: no entropy, no memory.
        public static let backendFailure = Code(name: "backendFailure")
    }

    /// The kind of failure.
    public let code: Code
    /// The reason in a sentence.
    public let reason: String

    /// Makes an error.
    ///
    /// - Parameter reason: a sentence without key bytes.
    public init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    /// The reason.
    public var description: String { reason }
}
