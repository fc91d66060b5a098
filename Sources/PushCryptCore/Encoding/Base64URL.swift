package import PushCryptPrimitives

/// base64url without padding (RFC 4648 section 5), canonical in both directions.
package enum Base64URL {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    private static let invalid: UInt8 = 0xff
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: invalid, count: 256)
        for (value, character) in alphabet.enumerated() {
            values[Int(character)] = UInt8(value)
        }
        return values
    }()

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

    private static func encode(_ bytes: Span<UInt8>, into characters: inout MutableSpan<UInt8>) {
        let table = alphabet
        let alphabet = table.bytes
        var (index, end) = (0, 0)
        while index + 3 <= bytes.count {
            let group = UInt32(bytes[index]) << 16 | UInt32(bytes[index + 1]) << 8 | UInt32(bytes[index + 2])
            characters[end] = alphabet[Int(group >> 18)]
            characters[end + 1] = alphabet[Int(group >> 12 & 63)]
            characters[end + 2] = alphabet[Int(group >> 6 & 63)]
            characters[end + 3] = alphabet[Int(group & 63)]
            index += 3
            end += 4
        }
        guard index < bytes.count else { return }
        let isLast = index + 1 == bytes.count
        let group = UInt32(bytes[index]) << 16 | (isLast ? 0 : UInt32(bytes[index + 1]) << 8)
        characters[end] = alphabet[Int(group >> 18)]
        characters[end + 1] = alphabet[Int(group >> 12 & 63)]
        if !isLast { characters[end + 2] = alphabet[Int(group >> 6 & 63)] }
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

    /// - Parameter bytes: as many as the text encodes.
    private static func decode(_ text: Span<UInt8>, into bytes: inout MutableSpan<UInt8>) -> Bool {
        guard text.count % 4 != 1 else { return false }
        let table = values
        let values = table.bytes
        var (index, end, seen) = (0, 0, UInt32(0))
        while index + 4 <= text.count {
            let (first, second) = (UInt32(values[Int(text[index])]), UInt32(values[Int(text[index + 1])]))
            let (third, fourth) = (UInt32(values[Int(text[index + 2])]), UInt32(values[Int(text[index + 3])]))
            seen |= first | second | third | fourth
            let group = first << 18 | second << 12 | third << 6 | fourth
            bytes[end] = UInt8(truncatingIfNeeded: group >> 16)
            bytes[end + 1] = UInt8(truncatingIfNeeded: group >> 8)
            bytes[end + 2] = UInt8(truncatingIfNeeded: group)
            index += 4
            end += 3
        }
        var rest: UInt32 = 0
        for position in 0..<text.count - index {
            let value = UInt32(values[Int(text[index + position])])
            seen |= value
            rest |= value << UInt32(18 - 6 * position)
        }
        let isShort = bytes.count - end == 1
        if end < bytes.count { bytes[end] = UInt8(truncatingIfNeeded: rest >> 16) }
        if end + 1 < bytes.count { bytes[end + 1] = UInt8(truncatingIfNeeded: rest >> 8) }
        return seen < 64 && rest & (isShort ? 0xffff : 0xff) == 0
    }
}
