import PushCryptPrimitives

// RFC 5280 sections 4.1 and 4.1.1.2:
//
// SubjectPublicKeyInfo ::= SEQUENCE {
//     algorithm         AlgorithmIdentifier,
//     subjectPublicKey  BIT STRING }
// AlgorithmIdentifier ::= SEQUENCE {
//     algorithm   OBJECT IDENTIFIER,
//     parameters  ANY DEFINED BY algorithm OPTIONAL }
//
// RFC 5480 section 2.1.1: the parameters of id-ecPublicKey are the named curve. RFC 8410 section 3: X25519 and Ed25519
// have none.

/// A public key, "PUBLIC KEY" in PEM.
enum SubjectPublicKeyInfo {
    static func read(_ der: Span<UInt8>) throws -> ContainedKey {
        var file = DERReader(der, KeyContainer.Kind.publicKey.structure)
        var members = try file.members()
        try file.end()
        let algorithm = try ContainedKey.Algorithm(&members)
        let bytes = try members.wholeBytes()
        try members.end()
        return try ContainedKey(algorithm, publicKey: algorithm.uncompressed(bytes))
    }

    static func write(_ key: ContainedKey) -> SecretBytes {
        let der = DER.element(
            DER.sequence, key.algorithm.identifier, DER.element(DER.bits, [0], key.publicKey))
        return SecretBytes(copying: der.bytes)
    }
}

extension ContainedKey.Algorithm {
    /// The AlgorithmIdentifier.
    var identifier: [UInt8] {
        switch self {
        case .p256: DER.element(DER.sequence, Self.ecPublicKey, Self.p256Curve)
        case .x25519: [0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x6e]
        case .ed25519: [0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70]
        }
    }

    /// 1.2.840.10045.2.1 and 1.2.840.10045.3.1.7.
    private static let ecPublicKey: [UInt8] = [0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01]
    static let p256Curve: [UInt8] = [0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07]

    /// Reads the next member, an AlgorithmIdentifier.
    ///
    /// - Throws: `KeyContainerError` with `unsupportedKey` or `malformed`.
    init(_ members: inout DERReader) throws {
        let contents = try members.next(DER.sequence)
        var identifier = DERReader(contents, "algorithm identifier")
        let object = try identifier.objectIdentifier()
        let whole = DER.element(DER.sequence, Array(contents))
        guard let known = Self.allCases.first(where: { $0.identifier == whole }) else {
            let isCurve = object == Self.ecPublicKey
            throw KeyContainerError(.unsupportedKey, isCurve ? Self.otherCurve : Self.otherType)
        }
        self = known
    }

    private static let otherCurve =
        "an elliptic curve key that doesn't name P-256 (prime256v1) as its curve; other curves and explicit curve "
        + "parameters are not supported"
    private static let otherType = "only P-256, X25519 and Ed25519 keys are supported; this is another type"
}
