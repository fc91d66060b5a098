/// Why a key container can't be read or written. It carries no key bytes and nothing of the container's text.
package struct KeyContainerError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of failure; more may be added.
    package struct Code: Hashable, Sendable {
        let name: String

        /// Neither PEM nor DER of a kind that holds one key.
        package static let notAKeyContainer = Code(name: "notAKeyContainer")
        /// Begins as a key container and then isn't one: cut off, not DER, bytes left over, a second key.
        package static let malformed = Code(name: "malformed")
        /// A key of another type or curve than P-256, X25519 and Ed25519.
        package static let unsupportedKey = Code(name: "unsupportedKey")
        /// Encrypted in another way than PBES2, with something that the installed OpenSSL doesn't have, or at a cost
        /// above the limits.
        package static let unsupportedEncryption = Code(name: "unsupportedEncryption")
        /// Encrypted, and no passphrase was given.
        package static let passphraseNeeded = Code(name: "passphraseNeeded")
        /// The passphrase is another one, or the container was damaged: PBES2 can't tell.
        package static let wrongPassphrase = Code(name: "wrongPassphrase")
        /// A point off the curve, a scalar outside 1..<n, a key of the wrong length.
        package static let invalidKey = Code(name: "invalidKey")
        /// The public key in the container isn't that of the private key in it.
        package static let inconsistentKeyPair = Code(name: "inconsistentKeyPair")
        /// A private key is to be written and there is none.
        package static let privateKeyMissing = Code(name: "privateKeyMissing")
    }

    package let code: Code
    /// What is wrong, where, and what to do about it.
    package let reason: String

    init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    package var description: String { reason }
}
