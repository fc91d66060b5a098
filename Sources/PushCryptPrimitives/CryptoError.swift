/// What a primitive can refuse or fail at. It carries no key, plaintext or ciphertext bytes.
public struct CryptoError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of failure; more may be added.
    public struct Code: Hashable, Sendable {
        let name: String

        /// The AEAD tag or the signature didn't match.
        public static let authenticationFailure = Code(name: "authenticationFailure")
        /// Not a valid serialised public key: wrong length or form, off the curve, or the point at infinity.
        public static let invalidPublicKey = Code(name: "invalidPublicKey")
        /// Not a valid private key: wrong length, zero, or not below the group order.
        public static let invalidPrivateKey = Code(name: "invalidPrivateKey")
        /// A key, nonce or output length that the algorithm doesn't have.
        public static let invalidLength = Code(name: "invalidLength")
        /// Cost parameters of a key derivation function that it doesn't have, or above the limits set here.
        public static let invalidParameters = Code(name: "invalidParameters")
        /// The Diffie-Hellman result is the all-zero string or the point at infinity (RFC 9180 section 7.1.4).
        public static let degenerateSharedSecret = Code(name: "degenerateSharedSecret")
        /// The two keys belong to different groups or backends.
        public static let keyMismatch = Code(name: "keyMismatch")
        /// The library below reported an error that valid input can't cause: out of memory, no entropy.
        public static let backendFailure = Code(name: "backendFailure")
    }

    /// The kind of failure.
    public let code: Code
    /// The operation or parameter at fault.
    public let reason: String

    /// - Parameter reason: the operation or parameter at fault, without key bytes.
    public init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    /// The code and the reason.
    public var description: String { "\(code.name): \(reason)" }
}
