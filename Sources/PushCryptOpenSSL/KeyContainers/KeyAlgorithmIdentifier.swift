import PushCryptPrimitives

/// Object identifiers of keys, as DER elements.
enum OID {
    /// 1.2.840.10045.2.1
    static let ecPublicKey: [UInt8] = [0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01]
    /// 1.2.840.10045.3.1.7, prime256v1
    static let p256: [UInt8] = [0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07]
    /// 1.3.101.110
    static let x25519: [UInt8] = [0x06, 0x03, 0x2b, 0x65, 0x6e]
    /// 1.3.101.112
    static let ed25519: [UInt8] = [0x06, 0x03, 0x2b, 0x65, 0x70]
}

// AlgorithmIdentifier ::= SEQUENCE {
//     algorithm   OBJECT IDENTIFIER,
//     parameters  ANY DEFINED BY algorithm OPTIONAL }
//
// RFC 5480 section 2.1.1: the parameters of id-ecPublicKey are the named curve. RFC 8410 section 3: X25519 and Ed25519
// have none.

extension ContainedKey.Algorithm {
    /// The whole AlgorithmIdentifier, which has one spelling for each of the three.
    var identifier: [UInt8] {
        switch self {
        case .p256: DER.element(.sequence, OID.ecPublicKey, OID.p256)
        case .x25519: DER.element(.sequence, OID.x25519)
        case .ed25519: DER.element(.sequence, OID.ed25519)
        }
    }

    /// - Throws: `KeyContainerError` with `unsupportedKey`.
    init(_ reader: inout DERReader) throws(KeyContainerError) {
        let identifier = [UInt8](try reader.element(.sequence))
        guard let known = Self.allCases.first(where: { $0.identifier == identifier }) else {
            throw try Self.unsupported(identifier)
        }
        self = known
    }

    private static func unsupported(_ identifier: [UInt8]) throws(KeyContainerError) -> KeyContainerError {
        var outer = DERReader(identifier.bytes, of: "algorithm identifier")
        var reader = try outer.contents(.sequence)
        let isCurve = [UInt8](try reader.element(.objectIdentifier)) == OID.ecPublicKey
        return KeyContainerError(.unsupportedKey, isCurve ? otherCurve : otherType)
    }

    private static let otherCurve =
        "an elliptic curve key that doesn't name P-256 (prime256v1) as its curve; other curves, and curve parameters "
        + "written out, are not supported"
    private static let otherType = "only P-256, X25519 and Ed25519 keys are supported; this is another type"
}
