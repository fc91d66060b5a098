import PushCryptPrimitives

// RFC 5958 section 3:
//
// EncryptedPrivateKeyInfo ::= SEQUENCE {
//     encryptionAlgorithm  AlgorithmIdentifier,
//     encryptedData        OCTET STRING }            holds a OneAsymmetricKey

/// A private key under a passphrase, "ENCRYPTED PRIVATE KEY" in PEM.
enum EncryptedPrivateKeyInfo {
    static func read(_ der: Span<UInt8>, passphrase: SecretBytes?) throws -> ContainedKey {
        var outer = DERReader(der, of: "encrypted private key (PKCS#8)")
        var reader = try outer.contents(.sequence)
        try outer.end()
        let scheme = try reader.element(.sequence)
        let ciphertext = try reader.content(.octetString)
        try reader.end()
        try PBES2.check(scheme)
        guard let passphrase else {
            throw KeyContainerError(.passphraseNeeded, "the private key is encrypted: it needs its passphrase")
        }
        let plaintext = try PBES2Cipher(scheme, passphrase, .open).process(ciphertext)
        do {
            return try PrivateKeyInfo.read(plaintext.bytes)
        } catch let error as KeyContainerError where error.code == .malformed {
            // One wrong passphrase in 256 leaves something that ends like padding.
            throw PBES2Cipher.wrongPassphrase
        }
    }

    static func write(_ key: ContainedKey, passphrase: SecretBytes) throws -> SecretBytes {
        let scheme = try PBES2.freshScheme()
        let plaintext = try PrivateKeyInfo.write(key)
        let ciphertext = try PBES2Cipher(scheme.bytes, passphrase, .seal).process(plaintext.bytes)
        let front = scheme + DER.header(.octetString, ciphertext.count)
        return SecretBytes(joining: DER.header(.sequence, front.count + ciphertext.count) + front, ciphertext)
    }
}
