public import PushCryptPrimitives

/// The files in which other tools keep single keys: PEM (RFC 7468) and DER.
///
/// Read and written: SubjectPublicKeyInfo ("PUBLIC KEY"), PKCS#8 ("PRIVATE KEY") and PKCS#8 under a passphrase with
/// PBES2 ("ENCRYPTED PRIVATE KEY"). Read only: SEC 1 ("EC PRIVATE KEY").
public enum KeyContainer {
    public enum Encoding: Sendable {
        /// Text, with `\n` at the end of each line.
        case pem
        case der
    }

    public enum Form: Sendable {
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
    public static let maximumByteCount = 1 << 20

    /// The one key in a container. Finds out by itself whether it is PEM or DER, and which kind.
    ///
    /// PEM may have text before the block, and after it white space only. DER has nothing after it.
    ///
    /// PBES2 isn't authenticated: whoever changes an encrypted container can change the key in it unnoticed, unless it
    /// states the public key as well, which only P-256 containers usually do. Compare the public key with the one that
    /// is expected.
    /// - Parameter passphrase: for an encrypted container; not looked at for another.
    /// - Throws: `KeyContainerError`; `CryptoError` with `backendFailure`.
    public static func read(_ bytes: Span<UInt8>, passphrase: SecretBytes? = nil) throws -> ContainedKey {
        guard bytes.count <= maximumByteCount else {
            throw KeyContainerError(.notAKeyContainer, "a key container has at most \(maximumByteCount) bytes")
        }
        guard let block = try PEM.read(bytes) else {
            return try Kind(of: bytes).read(bytes, passphrase)
        }
        return try Kind(named: block.name).read(block.der.bytes, passphrase)
    }

    /// The container of a key; what it returns can be a private key, and is therefore `SecretBytes` in all forms.
    ///
    /// - Throws: `KeyContainerError` with `privateKeyMissing` where a public key is to be written as a private one;
    ///   `CryptoError` with `backendFailure`, for want of entropy or memory.
    public static func write(_ key: ContainedKey, as form: Form, encoding: Encoding) throws -> SecretBytes {
        let (kind, der): (Kind, SecretBytes) =
            switch form {
            case .publicKey: (.publicKey, SecretBytes(copying: SubjectPublicKeyInfo.write(key).bytes))
            case .privateKey: (.privateKey, try PrivateKeyInfo.write(key))
            case .encryptedPrivateKey(let passphrase):
                (.encryptedPrivateKey, try EncryptedPrivateKeyInfo.write(key, passphrase: passphrase))
            }
        return encoding == .der ? der : PEM.write(kind.rawValue, der.bytes)
    }
}

extension KeyContainer.Kind {
    fileprivate func read(_ der: Span<UInt8>, _ passphrase: SecretBytes?) throws -> ContainedKey {
        switch self {
        case .publicKey: try SubjectPublicKeyInfo.read(der)
        case .privateKey: try PrivateKeyInfo.read(der)
        case .encryptedPrivateKey: try EncryptedPrivateKeyInfo.read(der, passphrase: passphrase)
        case .ecPrivateKey: try ECPrivateKey.read(der, curveIsKnown: false)
        }
    }
}
