public import PushCryptPrimitives

/// Why a key, a key set or an identifier can't be used. It contains no key bytes.
public struct KeyError: DescribedError, Hashable, Sendable {
    /// The kind of failure; more may be added.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        let name: String

        /// The code's name.
        public var description: String { name }

        /// The text is not strict JSON, or not a JWK or JWK set.
        public static let malformed = Code(name: "malformed")
        /// A later version of pushcrypt wrote the keyset or the backup.
        public static let unsupportedVersion = Code(name: "unsupportedVersion")
        /// pushcrypt doesn't support this key type, curve or `alg`.
        public static let unsupportedKey = Code(name: "unsupportedKey")
        /// The machine's cryptographic library doesn't have the algorithms of the key's suite.
        public static let unsupportedSuite = Code(name: "unsupportedSuite")
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
        /// The key's suite ranks below the required one.
        public static let suiteTooLow = Code(name: "suiteTooLow")
        /// No key of the set seals or signs at this time.
        public static let noKeySeals = Code(name: "noKeySeals")
        /// The device id has a wrong character or length.
        public static let invalidDeviceID = Code(name: "invalidDeviceID")
        /// The key is that of another device.
        public static let wrongDevice = Code(name: "wrongDevice")
        /// The topic has a wrong character or length.
        public static let invalidTopic = Code(name: "invalidTopic")
        /// The host that an app registers with has a wrong character or length.
        public static let invalidHost = Code(name: "invalidHost")
        /// The times of the rotation policy contradict each other, or a signed set can't be published with these values.
        public static let invalidPolicy = Code(name: "invalidPolicy")
        /// A signed set of sender keys exceeds a limit: its bytes, signatures, keys, topics or revoked keys.
        public static let tooLarge = Code(name: "tooLarge")
        /// The text is a signed set of sender keys, which is read only with the pins of its publishers.
        public static let signedSet = Code(name: "signedSet")
        /// No pinned publisher signed the set of sender keys, or no signature is valid.
        public static let notSigned = Code(name: "notSigned")
        /// The signed set has another id than the pinned one.
        public static let otherSet = Code(name: "otherSet")
        /// The signed set is for other apps.
        public static let otherTopic = Code(name: "otherTopic")
        /// The signed set has another epoch than the pinned one.
        public static let otherEpoch = Code(name: "otherEpoch")
        /// The signed set is older than the accepted one.
        public static let rolledBack = Code(name: "rolledBack")
        /// Another set was accepted with the same `seq`, or a key has the id of another key that was revoked.
        public static let conflict = Code(name: "conflict")
        /// The `validUntil` of the signed set has passed.
        public static let expired = Code(name: "expired")
        /// The MAC of a device set isn't that of its record.
        public static let notAuthentic = Code(name: "notAuthentic")
        /// The device set belongs to another record.
        public static let otherRegistration = Code(name: "otherRegistration")
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
