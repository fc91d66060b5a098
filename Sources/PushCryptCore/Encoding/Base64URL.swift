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
        output.reserveCapacity(output.count + encodedCount(bytes.count))
        var index = 0
        while index + 3 <= bytes.count {
            let group = UInt32(bytes[index]) << 16 | UInt32(bytes[index + 1]) << 8 | UInt32(bytes[index + 2])
            output.append(alphabet[Int(group >> 18)])
            output.append(alphabet[Int(group >> 12 & 63)])
            output.append(alphabet[Int(group >> 6 & 63)])
            output.append(alphabet[Int(group & 63)])
            index += 3
        }
        if index + 1 == bytes.count {
            let group = UInt32(bytes[index]) << 16
            output.append(alphabet[Int(group >> 18)])
            output.append(alphabet[Int(group >> 12 & 63)])
        } else if index + 2 == bytes.count {
            let group = UInt32(bytes[index]) << 16 | UInt32(bytes[index + 1]) << 8
            output.append(alphabet[Int(group >> 18)])
            output.append(alphabet[Int(group >> 12 & 63)])
            output.append(alphabet[Int(group >> 6 & 63)])
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
        var output = [UInt8]()
        output.reserveCapacity(decodedCapacity(text.count))
        return decode(text) { byte in output.append(byte) } ? output : nil
    }

    /// The same for a secret: the bytes go nowhere but into the result.
    package static func decodeSecret(_ text: ArraySlice<UInt8>) -> SecretBytes? {
        var isCanonical = false
        let secret = SecretBytes(count: decodedCapacity(text.count)) { bytes in
            var count = 0
            isCanonical = decode(text) { byte in
                bytes[count] = byte
                count += 1
            }
        }
        return isCanonical ? secret : nil
    }

    private static func decode(_ text: ArraySlice<UInt8>, _ emit: (UInt8) -> Void) -> Bool {
        guard text.count % 4 != 1 else { return false }
        var bits: UInt32 = 0
        var bitCount = 0
        for character in text {
            let value = values[Int(character)]
            guard value != invalid else { return false }
            bits = bits << 6 | UInt32(value)
            bitCount += 6
            if bitCount >= 8 {
                bitCount -= 8
                emit(UInt8(truncatingIfNeeded: bits >> UInt32(bitCount)))
                bits &= (1 << UInt32(bitCount)) - 1
            }
        }
        return bits == 0
    }
}
