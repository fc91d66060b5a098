import PushCryptPrimitives
import SwiftASN1

// DER of private keys with swift-asn1, which knows nothing of secrets:
//
// - `DER.parse` copies nothing, its nodes are slices of the array that it parses. That array is therefore the one copy of
//   the private key here, and it is wiped when the nodes are gone. Nothing may keep a node or a slice.
// - `DER.Serializer` appends to arrays that grow and are freed without being wiped. Private keys don't go through it: it
//   serializes a template with zero bytes in place of the key.
// - The texts of `ASN1Error` can contain bytes of the input. They are dropped.

extension DER {
    /// Runs `body` with the root of `der`, and wipes the parsed copy afterwards.
    ///
    /// - Parameter body: its result must not contain nodes or slices of them.
    /// - Throws: `KeyContainerError` with `malformed` for anything but one DER element; what `body` throws.
    static func withRoot<Result>(
        of der: Span<UInt8>, _ structure: StaticString, _ body: (ASN1Node) throws -> Result
    ) throws -> Result {
        var bytes = [UInt8](der)
        defer { wipe(&bytes) }
        return try reading(structure) { try body(DER.parse(bytes)) }
    }

    /// Runs `body` and says in which structure it found a fault.
    ///
    /// - Throws: `KeyContainerError` with `malformed` for `ASN1Error`; what `body` throws otherwise.
    static func reading<Result>(_ structure: StaticString, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch is ASN1Error {
            throw KeyContainerError(
                .malformed, "the \(structure) is cut off, has bytes left over or another structure")
        }
    }

    /// The next member as an INTEGER that is not negative. A value above `Int.max` is returned as `Int.max`: every limit
    /// refuses it.
    static func count(_ members: inout ASN1NodeCollection.Iterator) throws -> Int {
        // swift-asn1 refuses negative ones and drops the leading zero byte, that of 0 included.
        let bytes = try ArraySlice<UInt8>(derEncoded: &members)
        guard bytes.count < Int.bitWidth / 8 else { return .max }
        return bytes.reduce(0) { $0 << 8 | Int($1) }
    }

    /// The next member as a BIT STRING without unused bits.
    static func bitString(
        _ node: ASN1Node, withIdentifier identifier: ASN1Identifier = .bitString
    ) throws -> ArraySlice<UInt8> {
        let bits = try ASN1BitString(derEncoded: node, withIdentifier: identifier)
        guard bits.paddingBits == 0 else { throw ASN1Error.invalidASN1Object(reason: "unused bits") }
        return bits.bytes
    }

    /// A SEQUENCE of public members.
    static func sequence(_ members: any DERSerializable...) throws -> ASN1Any {
        var coder = Serializer()
        try coder.appendConstructedNode(identifier: .sequence) { coder in
            for member in members { try coder.serialize(member) }
        }
        return try ASN1Any(derEncoded: coder.serializedBytes)
    }
}

extension DERSerializable {
    var der: [UInt8] {
        get throws {
            var coder = DER.Serializer()
            try serialize(into: &coder)
            return coder.serializedBytes
        }
    }
}
