package import PushCryptPrimitives

/// Reads and writes the key files of other tools: PEM (RFC 7468) and DER.
///
/// It reads and writes SubjectPublicKeyInfo ("PUBLIC KEY"), PKCS#8 ("PRIVATE KEY") and PKCS#8 encrypted with PBES2
/// ("ENCRYPTED PRIVATE KEY"). It only reads SEC 1 ("EC PRIVATE KEY").
package enum KeyContainer {
    package enum Encoding: Sendable {
        /// Text, with `\n` at the end of each line.
        case pem
        case der
    }

    package enum Form: Sendable {
        /// SubjectPublicKeyInfo; a private key is omitted.
        case publicKey
        /// PKCS#8, not encrypted.
        case privateKey
        /// PKCS#8 with PBES2: PBKDF2-HMAC-SHA-256 with 600,000 iterations, AES-256-CBC. An empty passphrase is allowed
        /// and protects nothing.
        case encryptedPrivateKey(passphrase: SecretBytes)
    }

    /// The size limit for containers. A key has some hundred bytes, but text may precede a PEM block.
    package static let maximumByteCount = 1 << 20

    /// Reads the key in a container. Detects the encoding and the kind of the container.
    ///
    /// PEM may have text before the block and white space after it. DER must end with its last byte.
    ///
    /// PBES2 isn't authenticated: an attacker can change the key in an encrypted container undetected, unless the container
    /// also contains the public key, which usually only P-256 containers do. Compare the public key with the expected one.
    /// - Parameter passphrase: for an encrypted container; ignored for others.
    /// - Throws: `KeyContainerError`; `CryptoError` with `backendFailure`.
    package static func read(_ bytes: Span<UInt8>, passphrase: SecretBytes? = nil) throws -> ContainedKey {
        guard bytes.count <= maximumByteCount else {
            throw KeyContainerError(.notAKeyContainer, "a key container has at most \(maximumByteCount) bytes")
        }
        if let block = try PEM.read(bytes) {
            return try Kind(named: block.name).read(block.der.bytes, passphrase)
        }
        // Every container is a SEQUENCE.
        guard !bytes.isEmpty, bytes[0] == DER.sequence else { throw Kind.unknown }
        return try Kind(of: bytes).read(bytes, passphrase)
    }

    /// Writes the container of a key as `SecretBytes`, because it can contain a private key.
    ///
    /// - Throws: `KeyContainerError` with `privateKeyMissing` if a public key is to be written as a private one;
    ///   `CryptoError` with `backendFailure` without entropy or memory.
    package static func write(_ key: ContainedKey, as form: Form, encoding: Encoding) throws -> SecretBytes {
        switch form {
        case .publicKey: encoded(.publicKey, SubjectPublicKeyInfo.write(key), encoding)
        case .privateKey: try encoded(.privateKey, PrivateKeyInfo.write(key), encoding)
        case .encryptedPrivateKey(let passphrase):
            try encoded(.encryptedPrivateKey, EncryptedPrivateKeyInfo.write(key, passphrase: passphrase), encoding)
        }
    }

    private static func encoded(_ kind: Kind, _ der: SecretBytes, _ encoding: Encoding) -> SecretBytes {
        guard encoding == .pem else { return der }
        return PEM.write(kind.rawValue, der)
    }
}

extension KeyContainer {
    /// The kind of a container. The raw value is its name in PEM.
    enum Kind: String {
        case publicKey = "PUBLIC KEY"
        case privateKey = "PRIVATE KEY"
        case encryptedPrivateKey = "ENCRYPTED PRIVATE KEY"
        case ecPrivateKey = "EC PRIVATE KEY"

        var structure: StaticString {
            switch self {
            case .publicKey: "public key (SubjectPublicKeyInfo)"
            case .privateKey: "private key (PKCS#8)"
            case .encryptedPrivateKey: "encrypted private key (PKCS#8)"
            case .ecPrivateKey: "EC private key (SEC 1)"
            }
        }

        fileprivate func read(_ der: Span<UInt8>, _ passphrase: SecretBytes?) throws -> ContainedKey {
            switch self {
            case .publicKey: try SubjectPublicKeyInfo.read(der)
            case .privateKey: try PrivateKeyInfo.read(der)
            case .encryptedPrivateKey: try EncryptedPrivateKeyInfo.read(der, passphrase: passphrase)
            case .ecPrivateKey: try ECPrivateKey.read(der)
            }
        }

        fileprivate static var unknown: KeyContainerError {
            KeyContainerError(.notAKeyContainer, "this is neither a PEM block with line breaks nor a DER key")
        }
    }
}

extension KeyContainer.Kind {
    /// - Throws: `KeyContainerError` with `unsupportedKey` for other names of keys (RSA PRIVATE KEY, OPENSSH PRIVATE
    ///   KEY), `notAKeyContainer` for all other names.
    init(named name: String) throws(KeyContainerError) {
        if let known = Self(rawValue: name) {
            self = known
        } else if name.hasSuffix("PRIVATE KEY") || name.hasSuffix("PUBLIC KEY") {
            throw KeyContainerError(
                .unsupportedKey,
                "a PEM block of another kind than PUBLIC KEY, PRIVATE KEY, ENCRYPTED PRIVATE KEY and EC PRIVATE KEY")
        } else {
            throw KeyContainerError(.notAKeyContainer, "the PEM block doesn't contain a key")
        }
    }

    /// Detects the kind of a DER container from the tags of its first two members. The reader of the kind checks the rest.
    ///
    /// ```
    /// PKCS#8                    INTEGER   SEQUENCE
    /// SEC 1                     INTEGER   OCTET STRING
    /// RSA and DSA (traditional) INTEGER   INTEGER
    /// SubjectPublicKeyInfo      SEQUENCE  BIT STRING
    /// encrypted PKCS#8          SEQUENCE  OCTET STRING
    /// ```
    fileprivate init(of der: Span<UInt8>) throws(KeyContainerError) {
        var file = DERReader(der, "DER key container")
        var members = try file.members()
        try file.end()
        var tags: [UInt8] = []
        while tags.count < 2, let tag = members.tag {
            tags.append(tag)
            _ = try members.next(tag)
        }
        switch tags {
        case [DER.integer, DER.sequence]: self = .privateKey
        case [DER.integer, DER.octets]: self = .ecPrivateKey
        case [DER.sequence, DER.bits]: self = .publicKey
        case [DER.sequence, DER.octets]: self = .encryptedPrivateKey
        case [DER.integer, DER.integer]:
            throw KeyContainerError(
                .unsupportedKey, "this is an RSA or DSA key; P-256, X25519 and Ed25519 are supported")
        default: throw Self.unknown
        }
    }
}

/// Why a key container can't be read or written. It contains no key bytes and nothing of the container's text.
///
/// ``ImportedKey`` converts it to `KeyError` or `KeystoreError`. It is a type of its own because tests and callers must
/// distinguish nine causes that those two don't have.
package struct KeyContainerError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of failure; more may be added.
    package struct Code: Hashable, Sendable {
        let name: String

        /// Neither PEM nor DER of a kind that contains one key.
        package static let notAKeyContainer = Code(name: "notAKeyContainer")
        /// The bytes begin like a key container but are cut off, aren't DER, have bytes left over or contain a second key.
        package static let malformed = Code(name: "malformed")
        /// A key of another type or curve than P-256, X25519 and Ed25519.
        package static let unsupportedKey = Code(name: "unsupportedKey")
        /// The encryption isn't PBES2, uses an algorithm that the installed OpenSSL lacks, or has a cost above the limits.
        package static let unsupportedEncryption = Code(name: "unsupportedEncryption")
        /// The container is encrypted, and no passphrase was given.
        package static let passphraseNeeded = Code(name: "passphraseNeeded")
        /// The passphrase is wrong or the container is damaged; PBES2 doesn't distinguish them.
        package static let wrongPassphrase = Code(name: "wrongPassphrase")
        /// A point off the curve, a scalar outside 1..<n, a key of the wrong length.
        package static let invalidKey = Code(name: "invalidKey")
        /// The public key in the container doesn't match the private key.
        package static let inconsistentKeyPair = Code(name: "inconsistentKeyPair")
        /// A public key can't be written as a private one.
        package static let privateKeyMissing = Code(name: "privateKeyMissing")
    }

    package let code: Code
    /// The fault, its place, and how to correct it.
    package let reason: String

    init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    package var description: String { reason }
}
