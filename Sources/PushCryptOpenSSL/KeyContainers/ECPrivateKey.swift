import PushCryptPrimitives

// SEC 1 appendix C.4, RFC 5915 section 3:
//
// ECPrivateKey ::= SEQUENCE {
//     version        INTEGER { ecPrivkeyVer1(1) },
//     privateKey     OCTET STRING,
//     parameters [0] ECParameters {{ NamedCurve }} OPTIONAL,
//     publicKey  [1] BIT STRING OPTIONAL }

/// A P-256 private key: "EC PRIVATE KEY" in PEM, and within PKCS#8.
enum ECPrivateKey {
    /// - Parameter curveIsKnown: PKCS#8 names the curve outside of this structure, which then may leave it out.
    static func read(_ der: Span<UInt8>, curveIsKnown: Bool) throws -> ContainedKey {
        var outer = DERReader(der, of: "EC private key (SEC 1)")
        var reader = try outer.contents(.sequence)
        try outer.end()
        guard try reader.integer() == 1 else { throw reader.malformed }
        let scalar = SecretBytes(copying: try reader.content(.octetString))
        if reader.isAt(.constructed0) {
            guard [UInt8](try reader.content(.constructed0)) == OID.p256 else { throw unsupportedCurve }
        } else if !curveIsKnown {
            throw unsupportedCurve
        }
        let key = try ContainedKey(.p256, privateKey: scalar)
        if reader.isAt(.constructed1) {
            var tagged = try reader.contents(.constructed1)
            try key.checkPair(with: tagged.bitString())
            try tagged.end()
        }
        try reader.end()
        return key
    }

    /// What stands before and after the 32 bytes of the scalar, where the curve is known and the public key stated.
    static func frame(publicKey: [UInt8]) -> (front: [UInt8], back: [UInt8]) {
        let front = DER.integer(1) + DER.header(.octetString, DHGroup.privateKeyByteCount)
        let back = DER.element(.constructed1, DER.bitString(publicKey))
        return (DER.header(.sequence, front.count + DHGroup.privateKeyByteCount + back.count) + front, back)
    }

    private static let unsupportedCurve = KeyContainerError(
        .unsupportedKey, "an EC private key that doesn't name P-256 (prime256v1) as its curve")
}

extension ContainedKey {
    /// - Throws: `KeyContainerError` with `inconsistentKeyPair` unless `stated` is this key's public key.
    func checkPair(with stated: Span<UInt8>) throws {
        guard try algorithm.publicKey(stated) == publicKey else {
            throw KeyContainerError(
                .inconsistentKeyPair, "the public key in the container isn't that of the private key beside it")
        }
    }
}
