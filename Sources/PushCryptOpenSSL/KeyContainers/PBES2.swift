import PushCryptPrimitives

// RFC 8018 appendix A; RFC 7914 section 7.1 for scrypt:
//
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

/// The AlgorithmIdentifier of password-based encryption.
enum PBES2 {
    /// PBKDF2's iterations in what is written here.
    static let iterations = 600_000
    /// The most that are read: some seconds.
    static let maximumIterations = 10_000_000

    /// PBKDF2 with HMAC-SHA-256 and AES-256 in CBC mode, which every tool of today reads, with fresh salt and IV.
    static func freshScheme() throws -> [UInt8] {
        let salt = try OpenSSLBackend().randomBytes(count: 16)
        let iv = try OpenSSLBackend().randomBytes(count: 16)
        let prf = DER.element(.sequence, Identifier.hmacSHA256, DER.element(.null))
        let cost = DER.element(.sequence, DER.element(.octetString, salt), DER.integer(iterations), prf)
        let derivation = DER.element(.sequence, Identifier.pbkdf2, cost)
        let cipher = DER.element(.sequence, Identifier.aes256CBC, DER.element(.octetString, iv))
        return DER.element(.sequence, Identifier.pbes2, DER.element(.sequence, derivation, cipher))
    }

    /// Refuses other schemes, and a cost that would keep the reader busy for as long as the writer of a file pleases.
    static func check(_ scheme: Span<UInt8>) throws(KeyContainerError) {
        var outer = DERReader(scheme, of: "description of the encryption (PBES2)")
        var reader = try outer.contents(.sequence)
        guard [UInt8](try reader.element(.objectIdentifier)) == Identifier.pbes2 else {
            throw KeyContainerError(
                .unsupportedEncryption,
                "encrypted in an old way (not PBES2): convert it with `openssl pkcs8 -topk8 -v2 aes-256-cbc`")
        }
        var parameters = try reader.contents(.sequence)
        try reader.end()
        var derivation = try parameters.contents(.sequence)
        let function = [UInt8](try derivation.element(.objectIdentifier))
        var cost = try derivation.contents(.sequence)
        _ = try cost.content(.octetString)
        switch function {
        case Identifier.pbkdf2: try checkPBKDF2(&cost)
        case Identifier.scrypt: try checkScrypt(&cost)
        default: throw KeyContainerError(.unsupportedEncryption, "the key derivation is neither PBKDF2 nor scrypt")
        }
    }

    private static func checkPBKDF2(_ cost: inout DERReader) throws(KeyContainerError) {
        guard try (1...maximumIterations).contains(cost.integer()) else {
            throw KeyContainerError(.unsupportedEncryption, "PBKDF2 takes 1 to \(maximumIterations) iterations here")
        }
    }

    private static func checkScrypt(_ cost: inout DERReader) throws(KeyContainerError) {
        let (n, r, p) = (try cost.integer(), try cost.integer(), try cost.integer())
        do {
            _ = try ScryptParameters(n: n, r: r, p: p)
        } catch {
            throw KeyContainerError(.unsupportedEncryption, error.reason)
        }
    }

    private enum Identifier {
        /// 1.2.840.113549.1.5.13
        static let pbes2: [UInt8] = [0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x05, 0x0d]
        /// 1.2.840.113549.1.5.12
        static let pbkdf2: [UInt8] = [0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x05, 0x0c]
        /// 1.3.6.1.4.1.11591.4.11
        static let scrypt: [UInt8] = [0x06, 0x09, 0x2b, 0x06, 0x01, 0x04, 0x01, 0xda, 0x47, 0x04, 0x0b]
        /// 1.2.840.113549.2.9
        static let hmacSHA256: [UInt8] = [0x06, 0x08, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x02, 0x09]
        /// 2.16.840.1.101.3.4.1.42
        static let aes256CBC: [UInt8] = [0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x01, 0x2a]
    }
}
