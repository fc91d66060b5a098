import PushCryptOpenSSL
import PushCryptPrimitives

// RFC 5958 section 3; RFC 8018 appendix A; RFC 7914 section 7.1 for scrypt:
//
// EncryptedPrivateKeyInfo ::= SEQUENCE {
//     encryptionAlgorithm  AlgorithmIdentifier,
//     encryptedData        OCTET STRING }            contains a OneAsymmetricKey
// PBES2-params ::= SEQUENCE {
//     keyDerivationFunc  AlgorithmIdentifier,
//     encryptionScheme   AlgorithmIdentifier }
// PBKDF2-params ::= SEQUENCE {
//     salt               OCTET STRING,
//     iterationCount     INTEGER,
//     keyLength          INTEGER OPTIONAL,
//     prf                AlgorithmIdentifier DEFAULT hmacWithSHA1 }
// scrypt-params ::= SEQUENCE {
//     salt                      OCTET STRING,
//     costParameter             INTEGER,
//     blockSize                 INTEGER,
//     parallelizationParameter  INTEGER,
//     keyLength                 INTEGER OPTIONAL }

/// A private key that is encrypted with a passphrase, "ENCRYPTED PRIVATE KEY" in PEM.
enum EncryptedPrivateKeyInfo {
    static func read(_ der: Span<UInt8>, passphrase: SecretBytes?) throws -> ContainedKey {
        var file = DERReader(der, KeyContainer.Kind.encryptedPrivateKey.structure)
        var members = try file.members()
        try file.end()
        let scheme = try members.next(DER.sequence)
        let ciphertext = try members.next(DER.octets)
        try members.end()
        try PBES2.check(scheme)
        guard let passphrase else {
            throw KeyContainerError(.passphraseNeeded, "the private key is encrypted: it needs its passphrase")
        }
        let whole = DER.element(DER.sequence, Array(scheme))
        let plaintext = try PBES2.process(.decrypt, ciphertext, whole, passphrase)
        let key = Result { try PrivateKeyInfo.read(plaintext.bytes) }
        if case .failure(let error as KeyContainerError) = key, error.code == .malformed {
            // About one wrong passphrase in 256 decrypts to bytes with valid padding.
            throw PBES2.wrongPassphrase
        }
        return try key.get()
    }

    static func write(_ key: ContainedKey, passphrase: SecretBytes) throws -> SecretBytes {
        let scheme = try PBES2.freshScheme()
        let plaintext = try PrivateKeyInfo.write(key)
        let ciphertext = try PBES2.process(.encrypt, plaintext.bytes, scheme, passphrase)
        let der = DER.element(DER.sequence, scheme, DER.element(DER.octets, Array(ciphertext.bytes)))
        return SecretBytes(copying: der.bytes)
    }
}

/// Password-based encryption. This type reads and writes the scheme; OpenSSL derives the key and runs the cipher.
enum PBES2 {
    /// The limit for containers that are read. This number takes some seconds.
    static let maximumIterations = 10_000_000

    static let wrongPassphrase = KeyContainerError(
        .wrongPassphrase, "the passphrase is wrong, or the container was damaged")

    /// A scheme with a random salt and IV: PBKDF2 with HMAC-SHA-256 and 600,000 iterations, and AES-256-CBC, which all
    /// current tools read.
    static func freshScheme() throws -> [UInt8] {
        let salt = DER.element(DER.octets, try OpenSSLBackend().randomBytes(count: 16))
        let iv = DER.element(DER.octets, try OpenSSLBackend().randomBytes(count: 16))
        let iterations = DER.element(DER.integer, [0x09, 0x27, 0xc0])
        let parameters = DER.element(DER.sequence, salt, iterations, DER.element(DER.sequence, hmacSHA256, null))
        return DER.element(
            DER.sequence, pbes2,
            DER.element(
                DER.sequence, DER.element(DER.sequence, pbkdf2, parameters), DER.element(DER.sequence, aes256CBC, iv)))
    }

    /// - Parameter scheme: an AlgorithmIdentifier.
    /// - Throws: `KeyContainerError` with `wrongPassphrase` or `unsupportedEncryption`.
    static func process(
        _ direction: OpenSSLBackend.PasswordBasedDirection, _ input: Span<UInt8>, _ scheme: [UInt8],
        _ passphrase: SecretBytes
    ) throws -> SecretBytes {
        do {
            return try OpenSSLBackend().passwordBased(direction, input, scheme: scheme.bytes, passphrase: passphrase)
        } catch let error as CryptoError where error.code == .authenticationFailure {
            throw wrongPassphrase
        } catch let error as CryptoError where error.code == .invalidParameters {
            throw KeyContainerError(.unsupportedEncryption, error.reason)
        }
    }

    /// Refuses other schemes, and a cost with which the file's author could keep the reader busy for hours. OpenSSL checks what
    /// doesn't affect the cost.
    ///
    /// - Parameter scheme: the members of an AlgorithmIdentifier.
    static func check(_ scheme: Span<UInt8>) throws {
        var members = DERReader(scheme, "description of the encryption (PBES2)")
        guard try members.objectIdentifier() == pbes2 else {
            throw KeyContainerError(
                .unsupportedEncryption,
                "the key is encrypted with another scheme than PBES2: convert it with `openssl pkcs8 -topk8 -v2 aes-256-cbc`"
            )
        }
        var parameters = try members.members()
        try members.end()
        var derivation = try parameters.members()
        _ = try parameters.next(DER.sequence)
        try parameters.end()
        let function = try derivation.objectIdentifier()
        var cost = try derivation.members()
        try derivation.end()
        _ = try cost.next(DER.octets)
        switch function {
        case pbkdf2:
            guard try (1...maximumIterations).contains(cost.integer()) else {
                throw KeyContainerError(
                    .unsupportedEncryption, "PBKDF2 must have 1 to \(maximumIterations) iterations")
            }
        case scrypt:
            let (n, r, p) = (try cost.integer(), try cost.integer(), try cost.integer())
            do { _ = try ScryptParameters(n: n, r: r, p: p) } catch {
                throw KeyContainerError(.unsupportedEncryption, error.reason)
            }
        default:
            throw KeyContainerError(.unsupportedEncryption, "the key derivation is neither PBKDF2 nor scrypt")
        }
    }

    private static let null: [UInt8] = [0x05, 0x00]
    /// 1.2.840.113549.1.5.13, 1.2.840.113549.1.5.12, 1.3.6.1.4.1.11591.4.11, 1.2.840.113549.2.9, 2.16.840.1.101.3.4.1.42
    private static let pbes2: [UInt8] = [0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x05, 0x0d]
    private static let pbkdf2: [UInt8] = [0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x05, 0x0c]
    private static let scrypt: [UInt8] = [0x06, 0x09, 0x2b, 0x06, 0x01, 0x04, 0x01, 0xda, 0x47, 0x04, 0x0b]
    private static let hmacSHA256: [UInt8] = [0x06, 0x08, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x02, 0x09]
    private static let aes256CBC: [UInt8] = [0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x01, 0x2a]
}
