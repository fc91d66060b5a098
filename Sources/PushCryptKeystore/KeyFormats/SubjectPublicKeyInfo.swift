import PushCryptPrimitives
import SwiftASN1

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
    static func read(_ root: ASN1Node) throws -> ContainedKey {
        try DER.sequence(root, identifier: .sequence) { members in
            let algorithm = try ContainedKey.Algorithm(AlgorithmIdentifier(derEncoded: &members))
            let bytes = try ASN1BitString(derEncoded: &members).wholeBytes
            return try ContainedKey(algorithm, publicKey: algorithm.uncompressed(bytes))
        }
    }

    static func write(_ key: ContainedKey) throws -> SecretBytes {
        let der = try DER.sequence(key.algorithm.identifier, ASN1BitString(bytes: key.publicKey[...])).der
        return SecretBytes(copying: der.bytes)
    }
}

struct AlgorithmIdentifier: DERImplicitlyTaggable, Hashable {
    let algorithm: ASN1ObjectIdentifier
    let parameters: ASN1Any?

    static var defaultIdentifier: ASN1Identifier { .sequence }

    init(_ algorithm: ASN1ObjectIdentifier, _ parameters: ASN1Any? = nil) {
        self.algorithm = algorithm
        self.parameters = parameters
    }

    init(derEncoded node: ASN1Node, withIdentifier identifier: ASN1Identifier) throws {
        self = try DER.reading("algorithm identifier") {
            try DER.sequence(node, identifier: identifier) { members in
                let algorithm = try ASN1ObjectIdentifier(derEncoded: &members)
                return AlgorithmIdentifier(algorithm, members.next().map(ASN1Any.init(derEncoded:)))
            }
        }
    }

    func serialize(into coder: inout DER.Serializer, withIdentifier identifier: ASN1Identifier) throws {
        try coder.appendConstructedNode(identifier: identifier) { coder in
            try coder.serialize(algorithm)
            if let parameters { try coder.serialize(parameters) }
        }
    }
}

extension ContainedKey.Algorithm {
    var identifier: AlgorithmIdentifier {
        get throws {
            switch self {
            case .p256: AlgorithmIdentifier(.AlgorithmIdentifier.idEcPublicKey, try ASN1Any(erasing: Self.p256Curve))
            case .x25519: AlgorithmIdentifier([1, 3, 101, 110])
            case .ed25519: AlgorithmIdentifier([1, 3, 101, 112])
            }
        }
    }

    static var p256Curve: ASN1ObjectIdentifier { .NamedCurves.secp256r1 }

    /// - Throws: `KeyContainerError` with `unsupportedKey`.
    init(_ identifier: AlgorithmIdentifier) throws {
        guard let known = try Self.allCases.first(where: { try $0.identifier == identifier }) else {
            let isCurve = identifier.algorithm == .AlgorithmIdentifier.idEcPublicKey
            throw KeyContainerError(.unsupportedKey, isCurve ? Self.otherCurve : Self.otherType)
        }
        self = known
    }

    private static let otherCurve =
        "an elliptic curve key that doesn't name P-256 (prime256v1) as its curve; other curves and explicit curve "
        + "parameters are not supported"
    private static let otherType = "only P-256, X25519 and Ed25519 keys are supported; this is another type"
}
