extension KeyContainer {
    /// What a container holds, by its name in PEM.
    enum Kind: String {
        case publicKey = "PUBLIC KEY"
        case privateKey = "PRIVATE KEY"
        case encryptedPrivateKey = "ENCRYPTED PRIVATE KEY"
        case ecPrivateKey = "EC PRIVATE KEY"
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

    /// The kind of a DER container, by the tags of its first two members. What follows is left to its reader.
    ///
    /// ```
    /// PKCS#8                    INTEGER   SEQUENCE
    /// SEC 1                     INTEGER   OCTET STRING
    /// RSA and DSA by themselves INTEGER   INTEGER
    /// SubjectPublicKeyInfo      SEQUENCE  BIT STRING
    /// encrypted PKCS#8          SEQUENCE  OCTET STRING
    /// ```
    init(of der: Span<UInt8>) throws(KeyContainerError) {
        var outer = DERReader(der, of: "DER key container")
        guard outer.isAt(.sequence) else { throw Self.unknown }
        var reader = try outer.contents(.sequence)
        let isNumbered = reader.isAt(.integer)
        guard isNumbered || reader.isAt(.sequence) else { throw Self.unknown }
        _ = try reader.content(isNumbered ? .integer : .sequence)
        if reader.isAt(.octetString) {
            self = isNumbered ? .ecPrivateKey : .encryptedPrivateKey
        } else if isNumbered, reader.isAt(.sequence) {
            self = .privateKey
        } else if !isNumbered, reader.isAt(.bitString) {
            self = .publicKey
        } else if isNumbered, reader.isAt(.integer) {
            throw KeyContainerError(.unsupportedKey, "an RSA or DSA key; P-256, X25519 and Ed25519 are supported")
        } else {
            throw Self.unknown
        }
    }

    private static var unknown: KeyContainerError {
        KeyContainerError(.notAKeyContainer, "neither a PEM block, whose lines end in line breaks, nor a DER key")
    }
}
