import CPushCryptOpenSSL

/// Why a key container can't be read or written. It carries no key bytes and nothing of the container's text.
public struct KeyContainerError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of failure; more may be added.
    public struct Code: Hashable, Sendable {
        let name: String

        /// Neither PEM nor DER of a kind that holds one key.
        public static let notAKeyContainer = Code(name: "notAKeyContainer")
        /// Begins as a key container and then isn't one: cut off, not DER, bytes left over, a second key.
        public static let malformed = Code(name: "malformed")
        /// A key of another type or curve than P-256, X25519 and Ed25519.
        public static let unsupportedKey = Code(name: "unsupportedKey")
        /// Encrypted in another way than PBES2, with something that the installed OpenSSL doesn't have, or at a cost
        /// above the limits.
        public static let unsupportedEncryption = Code(name: "unsupportedEncryption")
        /// Encrypted, and no passphrase was given.
        public static let passphraseNeeded = Code(name: "passphraseNeeded")
        /// The passphrase is another one, or the container was damaged: PBES2 can't tell.
        public static let wrongPassphrase = Code(name: "wrongPassphrase")
        /// A point off the curve, a scalar outside 1..<n, a key of the wrong length.
        public static let invalidKey = Code(name: "invalidKey")
        /// The public key in the container isn't that of the private key in it.
        public static let inconsistentKeyPair = Code(name: "inconsistentKeyPair")
        /// A private key is to be written and there is none.
        public static let privateKeyMissing = Code(name: "privateKeyMissing")
    }

    public let code: Code
    /// What is wrong, where, and what mends it.
    public let reason: String

    init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    public var description: String { reason }
}

/// As the `check` for `CryptoError`: throws unless `result` is 1, and leaves nothing in OpenSSL's error queue.
func check(_ result: Int32, or error: @autoclosure () -> KeyContainerError) throws(KeyContainerError) {
    if result != 1 {
        ERR_clear_error()
        throw error()
    }
}
