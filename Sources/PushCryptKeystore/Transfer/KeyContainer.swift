package import PushCryptPrimitives
import SwiftASN1

/// The files in which other tools keep single keys: PEM (RFC 7468) and DER.
///
/// Read and written: SubjectPublicKeyInfo ("PUBLIC KEY"), PKCS#8 ("PRIVATE KEY") and PKCS#8 under a passphrase with
/// PBES2 ("ENCRYPTED PRIVATE KEY"). Read only: SEC 1 ("EC PRIVATE KEY").
package enum KeyContainer {
    package enum Encoding: Sendable {
        /// Text, with `\n` at the end of each line.
        case pem
        case der
    }

    package enum Form: Sendable {
        /// SubjectPublicKeyInfo; of a pair, the public key only.
        case publicKey
        /// PKCS#8, not encrypted.
        case privateKey
        /// PKCS#8 with PBES2: PBKDF2-HMAC-SHA-256 with 600,000 iterations, AES-256-CBC.
        ///
        /// An empty passphrase is allowed, and protects nothing.
        case encryptedPrivateKey(passphrase: SecretBytes)
    }

    /// The longest container that is read. Keys have some hundred bytes; text may stand before a PEM block.
    package static let maximumByteCount = 1 << 20

    /// The one key in a container. Detects whether it is PEM or DER, and its kind.
    ///
    /// PEM may have text before the block, and after it white space only. DER has nothing after it.
    ///
    /// PBES2 isn't authenticated: somebody who changes an encrypted container can change the key in it unnoticed, unless
    /// it states the public key as well, which only P-256 containers usually do. Compare the public key with the one
    /// that is expected.
    /// - Parameter passphrase: for an encrypted container; ignored for others.
    /// - Throws: `KeyContainerError`; `CryptoError` with `backendFailure`.
    package static func read(_ bytes: Span<UInt8>, passphrase: SecretBytes? = nil) throws -> ContainedKey {
        guard bytes.count <= maximumByteCount else {
            throw KeyContainerError(.notAKeyContainer, "a key container has at most \(maximumByteCount) bytes")
        }
        if let block = try PEM.read(bytes) {
            let kind = try Kind(named: block.name)
            return try DER.withRoot(of: block.der.bytes, kind.structure) { try kind.read($0, passphrase) }
        }
        // Every container is a SEQUENCE.
        guard !bytes.isEmpty, bytes[0] == 0x30 else { throw Kind.unknown }
        return try DER.withRoot(of: bytes, "DER key container") { try Kind(of: $0).read($0, passphrase) }
    }

    /// The container of a key. It is `SecretBytes` in all forms, since it can hold a private key.
    ///
    /// - Throws: `KeyContainerError` with `privateKeyMissing` if a public key is to be written as a private one;
    ///   `CryptoError` with `backendFailure` without entropy or memory.
    package static func write(_ key: ContainedKey, as form: Form, encoding: Encoding) throws -> SecretBytes {
        switch form {
        case .publicKey:
            let der = try SubjectPublicKeyInfo.write(key)
            return encoded(.publicKey, der.bytes, encoding)
        case .privateKey:
            let der = try PrivateKeyInfo.write(key)
            return encoded(.privateKey, der.bytes, encoding)
        case .encryptedPrivateKey(let passphrase):
            let der = try EncryptedPrivateKeyInfo.write(key, passphrase: passphrase)
            return encoded(.encryptedPrivateKey, der.bytes, encoding)
        }
    }

    private static func encoded(_ kind: Kind, _ der: Span<UInt8>, _ encoding: Encoding) -> SecretBytes {
        encoding == .pem ? PEM.write(kind.rawValue, der) : SecretBytes(copying: der)
    }
}

extension KeyContainer {
    /// What a container holds, by its name in PEM.
    enum Kind: String {
        case publicKey = "PUBLIC KEY"
        case privateKey = "PRIVATE KEY"
        case encryptedPrivateKey = "ENCRYPTED PRIVATE KEY"
        case ecPrivateKey = "EC PRIVATE KEY"

        /// In errors.
        fileprivate var structure: StaticString {
            switch self {
            case .publicKey: "public key (SubjectPublicKeyInfo)"
            case .privateKey: "private key (PKCS#8)"
            case .encryptedPrivateKey: "encrypted private key (PKCS#8)"
            case .ecPrivateKey: "EC private key (SEC 1)"
            }
        }

        fileprivate func read(_ root: ASN1Node, _ passphrase: SecretBytes?) throws -> ContainedKey {
            switch self {
            case .publicKey: try SubjectPublicKeyInfo.read(root)
            case .privateKey: try PrivateKeyInfo.read(root)
            case .encryptedPrivateKey: try EncryptedPrivateKeyInfo.read(root, passphrase: passphrase)
            case .ecPrivateKey: try ECPrivateKey.read(root)
            }
        }

        fileprivate static var unknown: KeyContainerError {
            KeyContainerError(.notAKeyContainer, "neither a PEM block, whose lines end in line breaks, nor a DER key")
        }
    }
}

extension KeyContainer.Kind {
    /// - Throws: `KeyContainerError` with `unsupportedKey` for other names of keys (RSA PRIVATE KEY, OPENSSH PRIVATE
    ///   KEY), `notAKeyContainer` for the rest.
    init(named name: String) throws(KeyContainerError) {
        if let known = Self(rawValue: name) {
            self = known
        } else if name.hasSuffix("PRIVATE KEY") || name.hasSuffix("PUBLIC KEY") {
            throw KeyContainerError(
                .unsupportedKey,
                "a PEM block of another kind: PUBLIC KEY, PRIVATE KEY, ENCRYPTED PRIVATE KEY and EC PRIVATE KEY are read"
            )
        } else {
            throw KeyContainerError(.notAKeyContainer, "the PEM block doesn't hold a key")
        }
    }

    /// The kind of a DER container, by the tags of its first two members. The reader of the kind checks the rest.
    ///
    /// ```
    /// PKCS#8                    INTEGER   SEQUENCE
    /// SEC 1                     INTEGER   OCTET STRING
    /// RSA and DSA by themselves INTEGER   INTEGER
    /// SubjectPublicKeyInfo      SEQUENCE  BIT STRING
    /// encrypted PKCS#8          SEQUENCE  OCTET STRING
    /// ```
    fileprivate init(of root: ASN1Node) throws(KeyContainerError) {
        guard case .constructed(let members) = root.content else { throw Self.unknown }
        switch members.prefix(2).map(\.identifier) {
        case [.integer, .sequence]: self = .privateKey
        case [.integer, .octetString]: self = .ecPrivateKey
        case [.sequence, .bitString]: self = .publicKey
        case [.sequence, .octetString]: self = .encryptedPrivateKey
        case [.integer, .integer]:
            throw KeyContainerError(.unsupportedKey, "an RSA or DSA key; P-256, X25519 and Ed25519 are supported")
        default: throw Self.unknown
        }
    }
}
