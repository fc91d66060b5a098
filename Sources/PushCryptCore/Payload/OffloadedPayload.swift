import PushCryptPrimitives

/// An inner payload as the plaintext of a blob (PROTOCOL section 6): padded on the right with spaces to a multiple of
/// 4 KiB, so that the blob's length says less.
package enum OffloadedPayload {
    package static let multipleInBytes = 4_096

    /// - Parameter json: an inner payload as it would be sealed, without a `pushcrypt` member.
    /// - Throws: `JSONError`, `InnerPayload.Flaw`.
    package static func plaintext(json: [UInt8]) throws -> [UInt8] {
        let payload = try InnerPayload(json: json)
        try payload.requireNoHeader()
        let padding = (multipleInBytes - json.count % multipleInBytes) % multipleInBytes
        // The longest payload is a multiple itself, so that the padded one is never too long for a reference.
        return json + [UInt8](repeating: paddingByte, count: padding)
    }

    /// - Returns: the payload that `plaintext` holds.
    /// - Throws: `FailureClass.malformed`, also for one that has a `pushcrypt` member: it would speak for the message,
    ///   and an offloaded payload is never offloaded again.
    package static func innerPayload(plaintext: [UInt8]) throws(FailureClass) -> InnerPayload {
        guard plaintext.count <= OffloadReference.maximumSize else { throw .malformed }
        let payload = try InnerPayload(message: plaintext)
        guard (try? payload.requireNoHeader()) != nil else { throw .malformed }
        return payload
    }
}
