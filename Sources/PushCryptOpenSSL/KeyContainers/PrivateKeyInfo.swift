import PushCryptPrimitives

// RFC 5958 section 2; version 0 without publicKey is the PrivateKeyInfo of PKCS#8 (RFC 5208 section 5):
//
// OneAsymmetricKey ::= SEQUENCE {
//     version              INTEGER { v1(0), v2(1) },
//     privateKeyAlgorithm  AlgorithmIdentifier,
//     privateKey           OCTET STRING,
//     attributes       [0] SET OF Attribute OPTIONAL,
//     publicKey        [1] BIT STRING OPTIONAL }         in v2 only
//
// privateKey holds an ECPrivateKey for P-256 (RFC 5915), an OCTET STRING for X25519 and Ed25519 (RFC 8410 section 7).

/// A private key as PKCS#8 has it, "PRIVATE KEY" in PEM.
enum PrivateKeyInfo {
    static func read(_ der: Span<UInt8>) throws -> ContainedKey {
        var outer = DERReader(der, of: "private key (PKCS#8)")
        var reader = try outer.contents(.sequence)
        try outer.end()
        let version = try reader.integer()
        guard version <= 1 else { throw reader.malformed }
        let algorithm = try ContainedKey.Algorithm(&reader)
        let key = try privateKey(algorithm, reader.content(.octetString))
        if reader.isAt(.constructed0) {
            _ = try reader.content(.constructed0)
        }
        if version == 1, reader.isAt(.primitive1) {
            try key.checkPair(with: reader.bitString(.primitive1))
        }
        try reader.end()
        return key
    }

    private static func privateKey(
        _ algorithm: ContainedKey.Algorithm, _ content: Span<UInt8>
    ) throws -> ContainedKey {
        if algorithm == .p256 {
            return try ECPrivateKey.read(content, curveIsKnown: true)
        }
        var reader = DERReader(content, of: "private key within PKCS#8")
        let bytes = SecretBytes(copying: try reader.content(.octetString))
        try reader.end()
        return try ContainedKey(algorithm, privateKey: bytes)
    }

    /// Version 0, without attributes. The public key is stated for P-256, within the ECPrivateKey, and has no place
    /// for X25519 and Ed25519.
    static func write(_ key: ContainedKey) throws(KeyContainerError) -> SecretBytes {
        guard let privateKey = key.privateKey else {
            throw KeyContainerError(.privateKeyMissing, "this is a public key, which can't be written as a private one")
        }
        let (front, back) =
            key.algorithm == .p256
            ? ECPrivateKey.frame(publicKey: key.publicKey) : (DER.header(.octetString, privateKey.count), [])
        let octetCount = front.count + privateKey.count + back.count
        let start = version0 + key.algorithm.identifier + DER.header(.octetString, octetCount)
        return SecretBytes(joining: DER.header(.sequence, start.count + octetCount) + start + front, privateKey, back)
    }

    private static let version0: [UInt8] = [DER.Tag.integer.rawValue, 1, 0]
}
