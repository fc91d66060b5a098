package import PushCryptPrimitives

/// base64url without padding (RFC 4648 section 5), canonical in both directions.
package enum Base64URL {
    /// Characters that `count` bytes take.
    package static func encodedCount(_ count: Int) -> Int {
        (count * 4 + 2) / 3
    }

    /// The most bytes whose encoding has at most `characters` characters.
    package static func decodedCapacity(_ characters: Int) -> Int {
        characters / 4 * 3 + max(characters % 4 - 1, 0)
    }

    package static func append(_ bytes: Span<UInt8>, to output: inout [UInt8]) {
        output.append(count: encodedCount(bytes.count)) { characters in encode(bytes, into: &characters) }
    }

    /// Twelve bytes are sixteen characters; zeros stand in for what the last of them lack.
    private static func encode(_ bytes: Span<UInt8>, into characters: inout MutableSpan<UInt8>) {
        var (index, end) = (0, 0)
        while index < bytes.count {
            let values = SixteenCharacters.values(ofBytes: bytes.sixteen(at: index, filler: "\0"))
            let count = min(16, characters.count - end)
            characters.write(SixteenCharacters.characters(of: values), count: count, at: end)
            index += 12
            end += 16
        }
    }

    package static func encode(_ bytes: Span<UInt8>) -> [UInt8] {
        var output = [UInt8]()
        append(bytes, to: &output)
        return output
    }

    package static func encode(_ bytes: [UInt8]) -> String {
        String(decoding: encode(bytes.bytes), as: UTF8.self)
    }

    /// The bytes of `text`; nil for a foreign character, padding, white space, an impossible length, or trailing
    /// bits that are not zero (they would let one value be written in several ways).
    package static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        var isCanonical = false
        let bytes = [UInt8](count: decodedCapacity(text.count)) { bytes in
            isCanonical = decode(text.bytes, into: &bytes)
        }
        return isCanonical ? bytes : nil
    }

    /// The same for a secret: the bytes go nowhere but into the result.
    package static func decodeSecret(_ text: ArraySlice<UInt8>) -> SecretBytes? {
        var isCanonical = false
        let secret = SecretBytes(count: decodedCapacity(text.count)) { bytes in
            isCanonical = decode(text.bytes, into: &bytes)
        }
        return isCanonical ? secret : nil
    }

    /// Whether ``decode(_:)`` gives bytes for it.
    package static func isCanonical(_ text: ArraySlice<UInt8>) -> Bool {
        withTemporarySecret(count: decodedCapacity(text.count)) { bytes in decode(text.bytes, into: &bytes) }
    }

    /// Sixteen characters are twelve bytes; `A`, which is zero, stands in for what the last of them lack.
    ///
    /// - Parameter bytes: as many as the text encodes.
    private static func decode(_ text: Span<UInt8>, into bytes: inout MutableSpan<UInt8>) -> Bool {
        guard text.count % 4 != 1 else { return false }
        var (index, end) = (0, 0)
        var (foreign, last) = (SixteenCharacters.Lanes(), SixteenCharacters.Lanes())
        while index < text.count {
            let values = SixteenCharacters.values(of: text.sixteen(at: index, filler: "A"))
            foreign |= values
            last = SixteenCharacters.bytes(of: values)
            bytes.write(last, count: min(12, bytes.count - end), at: end)
            index += 16
            end += 12
        }
        let trailing = (bytes.count - end + 12..<12).reduce(0) { $0 | last[$1] }
        return foreign.min() >= 0 && trailing == 0
    }
}
