import CPushCryptOpenSSL
import PushCryptPrimitives

// RFC 5280 section 4.1:
//
// SubjectPublicKeyInfo ::= SEQUENCE {
//     algorithm         AlgorithmIdentifier,
//     subjectPublicKey  BIT STRING }

/// A public key, "PUBLIC KEY" in PEM.
enum SubjectPublicKeyInfo {
    static func read(_ der: Span<UInt8>) throws -> ContainedKey {
        var outer = DERReader(der, of: "public key (SubjectPublicKeyInfo)")
        var reader = try outer.contents(.sequence)
        try outer.end()
        let algorithm = try ContainedKey.Algorithm(&reader)
        let publicKey = try algorithm.publicKey(reader.bitString())
        try reader.end()
        return try ContainedKey(algorithm, publicKey: publicKey)
    }

    static func write(_ key: ContainedKey) -> [UInt8] {
        DER.element(.sequence, key.algorithm.identifier, DER.bitString(key.publicKey))
    }
}

extension ContainedKey.Algorithm {
    /// The public key that a container holds, in the form that `ContainedKey` has. It is checked there.
    func publicKey(_ bytes: Span<UInt8>) throws -> [UInt8] {
        let isCompressed = self == .p256 && bytes.count == 33
        return isCompressed ? try Self.decompressed(bytes) : [UInt8](bytes)
    }

    /// SEC 1 section 2.3.4: 02 or 03 and x. OpenSSL refuses an x that no point of the curve has.
    private static func decompressed(_ bytes: Span<UInt8>) throws -> [UInt8] {
        let group = try Algorithms.shared.p256()
        let scratch = try ThreadContext.current.pointee.p256()
        let point = try CurvePoint()
        let result = bytes.withUnsafeBufferPointer { bytes in
            EC_POINT_oct2point(group, point.pointer, bytes.baseAddress, bytes.count, scratch.context)
        }
        try check(result, or: KeyContainerError(.invalidKey, "the compressed point is not on P-256"))
        var uncompressed = [UInt8]()
        try point.append(to: &uncompressed, scratch)
        return uncompressed
    }
}
