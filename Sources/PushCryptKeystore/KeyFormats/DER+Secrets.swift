import PushCryptPrimitives
import SwiftASN1

// swift-asn1 doesn't wipe secrets. These rules make it usable for the DER of private keys:
//
// - `DER.parse` copies nothing; its nodes are slices of the parsed array. That array is the only copy of the private key
//   and is wiped after use. Code must not keep a node or a slice.
// - `DER.Serializer` frees its arrays without wiping them. It never gets a private key; it serializes a template with zero
//   bytes instead.
// - The texts of `ASN1Error` can contain bytes of the input, so `reading` discards them.

extension DER {
    /// Runs `body` with the root of `der` and then wipes the parsed copy.
    ///
    /// - Parameter body: must not return nodes or slices of them.
    /// - Throws: `KeyContainerError` with `malformed` unless `der` is one DER element; what `body` throws.
    static func withRoot<Result>(
        of der: Span<UInt8>, _ structure: StaticString, _ body: (ASN1Node) throws -> Result
    ) throws -> Result {
        var bytes = [UInt8](der)
        defer { wipe(&bytes) }
        return try reading(structure) { try body(DER.parse(bytes)) }
    }

    /// Runs `body` and converts `ASN1Error` to `KeyContainerError` with `malformed` and the name of the structure.
    static func reading<Result>(_ structure: StaticString, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch is ASN1Error {
            throw KeyContainerError(.malformed, "the \(structure) is cut off, has bytes left over or another structure")
        }
    }

    /// Reads the next member as a nonnegative INTEGER. Returns `Int.max`, which every limit refuses, for larger values.
    static func count(_ members: inout ASN1NodeCollection.Iterator) throws -> Int {
        // swift-asn1 refuses negative integers and drops the leading zero byte, also for the integer 0.
        let bytes = try ArraySlice<UInt8>(derEncoded: &members)
        guard bytes.count < Int.bitWidth / 8 else { return .max }
        return bytes.reduce(0) { $0 << 8 | Int($1) }
    }

    static func sequence(_ members: any DERSerializable...) throws -> ASN1Any {
        var coder = Serializer()
        try coder.appendConstructedNode(identifier: .sequence) { coder in
            for member in members { try coder.serialize(member) }
        }
        return try ASN1Any(derEncoded: coder.serializedBytes)
    }
}

extension ASN1BitString {
    /// - Throws: `ASN1Error` if there are unused bits.
    var wholeBytes: ArraySlice<UInt8> {
        get throws {
            guard paddingBits == 0 else { throw ASN1Error.invalidASN1Object(reason: "unused bits") }
            return bytes
        }
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
