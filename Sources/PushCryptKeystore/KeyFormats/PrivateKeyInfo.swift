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
// privateKey contains an ECPrivateKey for P-256 (RFC 5915), an OCTET STRING for X25519 and Ed25519 (RFC 8410 section 7).

/// A private key in PKCS#8, "PRIVATE KEY" in PEM.
enum PrivateKeyInfo {
    static func read(_ der: Span<UInt8>) throws -> ContainedKey {
        var file = DERReader(der, KeyContainer.Kind.privateKey.structure)
        var members = try file.members()
        try file.end()
        let version = try members.integer()
        guard version <= 1 else { throw members.malformed }
        let algorithm = try ContainedKey.Algorithm(&members)
        let content = try members.next(DER.octets)
        let key: ContainedKey
        if algorithm == .p256 {
            key = try ECPrivateKey.read(content, curveIsKnown: true)
        } else {
            var inner = DERReader(content, "private key within PKCS#8")
            let bytes = try inner.next(DER.octets)
            try inner.end()
            key = try ContainedKey(algorithm, privateKey: SecretBytes(copying: bytes))
        }
        if members.tag == 0xa0 { _ = try members.next(0xa0) }
        if version == 1, members.tag == 0x81 { try key.checkPair(with: members.wholeBytes(0x81)) }
        try members.end()
        return key
    }

    /// Writes version 0 without attributes. For P-256, the ECPrivateKey contains the public key; for X25519 and Ed25519,
    /// version 0 has no member for it.
    static func write(_ key: ContainedKey) throws -> SecretBytes {
        guard let privateKey = key.privateKey else {
            throw KeyContainerError(.privateKeyMissing, "a public key can't be written as a private key")
        }
        let zeros = DER.element(DER.octets, [UInt8](repeating: 0, count: privateKey.count))
        let publicMember =
            key.algorithm == .p256 ? DER.element(0xa1, DER.element(DER.bits, [0], key.publicKey)) : []
        let inner =
            key.algorithm == .p256
            ? DER.element(DER.sequence, DER.element(DER.integer, [1]), zeros, publicMember) : zeros
        let template = DER.element(
            DER.sequence, DER.element(DER.integer, [0]), key.algorithm.identifier, DER.element(DER.octets, inner))
        return SecretBytes(count: template.count) { bytes in
            bytes.write(template.bytes)
            bytes.write(privateKey.bytes, at: template.count - publicMember.count - privateKey.count)
        }
    }
}

// SEC 1 appendix C.4, RFC 5915 section 3:
//
// ECPrivateKey ::= SEQUENCE {
//     version        INTEGER { ecPrivkeyVer1(1) },
//     privateKey     OCTET STRING,
//     parameters [0] ECParameters {{ NamedCurve }} OPTIONAL,
//     publicKey  [1] BIT STRING OPTIONAL }

/// A P-256 private key: "EC PRIVATE KEY" in PEM, and within PKCS#8.
enum ECPrivateKey {
    /// - Parameter curveIsKnown: whether the structure may omit the curve, as within PKCS#8.
    static func read(_ der: Span<UInt8>, curveIsKnown: Bool = false) throws -> ContainedKey {
        var file = DERReader(der, KeyContainer.Kind.ecPrivateKey.structure)
        var members = try file.members()
        try file.end()
        guard try members.integer() == 1 else { throw members.malformed }
        let bytes = try members.next(DER.octets)
        let isP256 =
            members.tag == 0xa0
            ? Array(try members.next(0xa0)) == ContainedKey.Algorithm.p256Curve : curveIsKnown
        guard isP256 else {
            throw KeyContainerError(
                .unsupportedKey, "an EC private key that doesn't name P-256 (prime256v1) as its curve")
        }
        guard members.tag == 0xa1 else {
            try members.end()
            return try ContainedKey(.p256, privateKey: SecretBytes(copying: bytes))
        }
        var wrapper = try members.members(0xa1)
        let stated = try wrapper.wholeBytes()
        try wrapper.end()
        try members.end()
        // Some writers drop the zero bytes at the front, against RFC 5915. The public key shows that no other byte is missing.
        let missing = bytes.isEmpty ? 0 : max(KeyPairType.privateKeyByteCount - bytes.count, 0)
        let scalar = SecretBytes(count: missing + bytes.count) { $0.write(bytes, at: missing) }
        let key = try ContainedKey(.p256, privateKey: scalar)
        try key.checkPair(with: stated)
        return key
    }
}

extension ContainedKey {
    /// - Throws: `KeyContainerError` with `inconsistentKeyPair` if `stated` isn't this key's public key.
    fileprivate func checkPair(with stated: Span<UInt8>) throws {
        guard try algorithm.uncompressed(stated) == publicKey else {
            throw KeyContainerError(
                .inconsistentKeyPair, "the public key in the container doesn't match the private key")
        }
    }
}
