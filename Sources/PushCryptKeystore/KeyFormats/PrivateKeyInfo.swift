import PushCryptPrimitives
import SwiftASN1

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
    static func read(_ root: ASN1Node) throws -> ContainedKey {
        try DER.sequence(root, identifier: .sequence) { members in
            let version = try DER.count(&members)
            guard version <= 1 else { throw ASN1Error.invalidASN1Object(reason: "version") }
            let algorithm = try ContainedKey.Algorithm(AlgorithmIdentifier(derEncoded: &members))
            let key = try contained(algorithm, ASN1OctetString(derEncoded: &members).bytes)
            try DER.optionalImplicitlyTagged(&members, tagNumber: 0, tagClass: .contextSpecific) { attributes in
                guard case .constructed = attributes.content else {
                    throw ASN1Error.unexpectedFieldType(attributes.identifier)
                }
            }
            guard version == 1 else { return key }
            let stated = try DER.optionalImplicitlyTagged(&members, tagNumber: 1, tagClass: .contextSpecific) {
                try ASN1BitString(derEncoded: $0, withIdentifier: $0.identifier).wholeBytes
            }
            if let stated { try key.checkPair(with: stated) }
            return key
        }
    }

    private static func contained(
        _ algorithm: ContainedKey.Algorithm, _ content: ArraySlice<UInt8>
    ) throws -> ContainedKey {
        switch algorithm {
        case .p256:
            try DER.reading(KeyContainer.Kind.ecPrivateKey.structure) {
                try ECPrivateKey.read(DER.parse(content), curveIsKnown: true)
            }
        case .x25519, .ed25519:
            try DER.reading("private key within PKCS#8") {
                let bytes = try ASN1OctetString(derEncoded: content).bytes
                return try ContainedKey(algorithm, privateKey: SecretBytes(copying: bytes.bytes))
            }
        }
    }

    /// Writes version 0 without attributes. For P-256, the ECPrivateKey contains the public key; for X25519 and Ed25519,
    /// version 0 has no member for it.
    static func write(_ key: ContainedKey) throws -> SecretBytes {
        guard let privateKey = key.privateKey else {
            throw KeyContainerError(.privateKeyMissing, "a public key can't be written as a private key")
        }
        let zeros = [UInt8](repeating: 0, count: privateKey.count)
        let inner =
            key.algorithm == .p256
            ? try ECPrivateKey.template(publicKey: key.publicKey)
            : (der: try ASN1OctetString(contentBytes: zeros[...]).der, keyBytesFromEnd: privateKey.count)
        let template = try DER.sequence(0, key.algorithm.identifier, ASN1OctetString(contentBytes: inner.der[...])).der
        let start = template.count - inner.keyBytesFromEnd
        return SecretBytes(count: template.count) { bytes in
            bytes.write(template.bytes)
            bytes.write(privateKey.bytes, at: start)
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
    static func read(_ root: ASN1Node, curveIsKnown: Bool = false) throws -> ContainedKey {
        try DER.sequence(root, identifier: .sequence) { members in
            guard try DER.count(&members) == 1 else { throw ASN1Error.invalidASN1Object(reason: "version") }
            let bytes = try ASN1OctetString(derEncoded: &members).bytes
            let isP256 = try DER.optionalExplicitlyTagged(&members, tagNumber: 0, tagClass: .contextSpecific) {
                ASN1Any(derEncoded: $0) == (try ASN1Any(erasing: ContainedKey.Algorithm.p256Curve))
            }
            guard isP256 ?? curveIsKnown else { throw unsupportedCurve }
            let stated = try DER.optionalExplicitlyTagged(&members, tagNumber: 1, tagClass: .contextSpecific) {
                try ASN1BitString(derEncoded: $0).wholeBytes
            }
            // Some writers drop the zero bytes at the front, against RFC 5915. The public key shows that no other byte is missing.
            let count = KeyPairType.privateKeyByteCount
            let missing = stated == nil || bytes.isEmpty ? 0 : max(count - bytes.count, 0)
            let scalar = SecretBytes(count: missing + bytes.count) { $0.write(bytes.bytes, at: missing) }
            let key = try ContainedKey(.p256, privateKey: scalar)
            if let stated { try key.checkPair(with: stated) }
            return key
        }
    }

    /// The structure with the public key, without the curve, and with zero bytes instead of the scalar.
    ///
    /// - Returns: the DER, and the number of bytes from the start of the scalar to the end of the DER.
    static func template(publicKey: [UInt8]) throws -> (der: [UInt8], keyBytesFromEnd: Int) {
        let scalarByteCount = KeyPairType.privateKeyByteCount
        var publicMember = DER.Serializer()
        try publicMember.serialize(
            ASN1BitString(bytes: publicKey[...]), explicitlyTaggedWithTagNumber: 1, tagClass: .contextSpecific)
        let tagged = publicMember.serializedBytes
        let zeros = [UInt8](repeating: 0, count: scalarByteCount)
        let der = try DER.sequence(1, ASN1OctetString(contentBytes: zeros[...]), ASN1Any(derEncoded: tagged)).der
        return (der, scalarByteCount + tagged.count)
    }

    private static let unsupportedCurve = KeyContainerError(
        .unsupportedKey, "an EC private key that doesn't name P-256 (prime256v1) as its curve")
}

extension ContainedKey {
    /// - Throws: `KeyContainerError` with `inconsistentKeyPair` if `stated` isn't this key's public key.
    fileprivate func checkPair(with stated: ArraySlice<UInt8>) throws {
        guard try algorithm.uncompressed(stated) == publicKey else {
            throw KeyContainerError(
                .inconsistentKeyPair, "the public key in the container doesn't match the private key")
        }
    }
}
