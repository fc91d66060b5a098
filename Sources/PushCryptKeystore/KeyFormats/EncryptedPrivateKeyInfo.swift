import PushCryptOpenSSL
import PushCryptPrimitives
import SwiftASN1

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
    static func read(_ root: ASN1Node, passphrase: SecretBytes?) throws -> ContainedKey {
        let (scheme, ciphertext) = try DER.sequence(root, identifier: .sequence) { members in
            let scheme = try AlgorithmIdentifier(derEncoded: &members)
            return (scheme, try ASN1OctetString(derEncoded: &members).bytes)
        }
        try PBES2.check(scheme)
        guard let passphrase else {
            throw KeyContainerError(.passphraseNeeded, "the private key is encrypted: it needs its passphrase")
        }
        let plaintext = try PBES2.process(.decrypt, ciphertext.bytes, scheme, passphrase)
        do {
            return try DER.withRoot(of: plaintext.bytes, "private key (PKCS#8)", PrivateKeyInfo.read)
        } catch let error as KeyContainerError where error.code == .malformed {
            // About one wrong passphrase in 256 decrypts to bytes with valid padding.
            throw PBES2.wrongPassphrase
        }
    }

    static func write(_ key: ContainedKey, passphrase: SecretBytes) throws -> SecretBytes {
        let scheme = try PBES2.freshScheme()
        let plaintext = try PrivateKeyInfo.write(key)
        let ciphertext = try PBES2.process(.encrypt, plaintext.bytes, scheme, passphrase)
        let der = try DER.sequence(scheme, ASN1OctetString(contentBytes: [UInt8](ciphertext.bytes)[...])).der
        return SecretBytes(copying: der.bytes)
    }
}

/// Password-based encryption. This type reads and writes the scheme; OpenSSL derives the key and runs the cipher.
enum PBES2 {
    /// The PBKDF2 iterations of containers that are written.
    static let iterations = 600_000
    /// The limit for containers that are read. This number takes some seconds.
    static let maximumIterations = 10_000_000

    static let wrongPassphrase = KeyContainerError(
        .wrongPassphrase, "the passphrase is wrong, or the container was damaged")

    /// A scheme with a random salt and IV: PBKDF2 with HMAC-SHA-256, and AES-256-CBC, which all current tools read.
    static func freshScheme() throws -> AlgorithmIdentifier {
        let salt = ASN1OctetString(contentBytes: try OpenSSLBackend().randomBytes(count: 16)[...])
        let iv = ASN1OctetString(contentBytes: try OpenSSLBackend().randomBytes(count: 16)[...])
        let prf = AlgorithmIdentifier(hmacSHA256, try ASN1Any(erasing: ASN1Null()))
        let derivation = AlgorithmIdentifier(pbkdf2, try DER.sequence(salt, iterations, prf))
        let cipher = AlgorithmIdentifier(aes256CBC, try ASN1Any(erasing: iv))
        return AlgorithmIdentifier(pbes2, try DER.sequence(derivation, cipher))
    }

    /// - Throws: `KeyContainerError` with `wrongPassphrase` or `unsupportedEncryption`.
    static func process(
        _ direction: OpenSSLBackend.PasswordBasedDirection, _ input: Span<UInt8>, _ scheme: AlgorithmIdentifier,
        _ passphrase: SecretBytes
    ) throws -> SecretBytes {
        let scheme = try scheme.der
        do {
            return try OpenSSLBackend().passwordBased(direction, input, scheme: scheme.bytes, passphrase: passphrase)
        } catch let error as CryptoError where error.code == .authenticationFailure {
            throw wrongPassphrase
        } catch let error as CryptoError where error.code == .invalidParameters {
            throw KeyContainerError(.unsupportedEncryption, error.reason)
        }
    }

    /// Refuses other schemes, and a cost with which the file's author could keep the reader busy for hours.
    static func check(_ scheme: AlgorithmIdentifier) throws {
        guard scheme.algorithm == pbes2 else {
            throw KeyContainerError(
                .unsupportedEncryption,
                "the key is encrypted with another scheme than PBES2: convert it with `openssl pkcs8 -topk8 -v2 aes-256-cbc`"
            )
        }
        try DER.reading("description of the encryption (PBES2)") {
            let parameters = try parsed(scheme)
            let derivation = try DER.sequence(parameters, identifier: .sequence) { members in
                let derivation = try AlgorithmIdentifier(derEncoded: &members)
                _ = try AlgorithmIdentifier(derEncoded: &members)
                return derivation
            }
            try DER.sequence(parsed(derivation), identifier: .sequence) { cost in
                _ = try ASN1OctetString(derEncoded: &cost)
                switch derivation.algorithm {
                case pbkdf2: try checkPBKDF2(&cost)
                case scrypt: try checkScrypt(&cost)
                default:
                    throw KeyContainerError(.unsupportedEncryption, "the key derivation is neither PBKDF2 nor scrypt")
                }
                // OpenSSL checks the other members, which don't affect the cost.
                while cost.next() != nil {}
            }
        }
    }

    private static func parsed(_ identifier: AlgorithmIdentifier) throws -> ASN1Node {
        guard let parameters = identifier.parameters else { throw ASN1Error.invalidASN1Object(reason: "no parameters") }
        return try DER.parse(parameters.der)
    }

    private static func checkPBKDF2(_ cost: inout ASN1NodeCollection.Iterator) throws {
        guard try (1...maximumIterations).contains(DER.count(&cost)) else {
            throw KeyContainerError(.unsupportedEncryption, "PBKDF2 must have 1 to \(maximumIterations) iterations")
        }
    }

    private static func checkScrypt(_ cost: inout ASN1NodeCollection.Iterator) throws {
        let n = try DER.count(&cost)
        let r = try DER.count(&cost)
        let p = try DER.count(&cost)
        do {
            _ = try ScryptParameters(n: n, r: r, p: p)
        } catch {
            throw KeyContainerError(.unsupportedEncryption, error.reason)
        }
    }

    private static let pbes2: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 5, 13]
    private static let pbkdf2: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 5, 12]
    private static let scrypt: ASN1ObjectIdentifier = [1, 3, 6, 1, 4, 1, 11591, 4, 11]
    private static let hmacSHA256: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 2, 9]
    private static let aes256CBC: ASN1ObjectIdentifier = [2, 16, 840, 1, 101, 3, 4, 1, 42]
}
