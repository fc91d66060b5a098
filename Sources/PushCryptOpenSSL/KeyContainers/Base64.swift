import CPushCryptOpenSSL
import PushCryptPrimitives

/// Base64 (RFC 4648 section 4) of secrets, from and into memory that is wiped.
///
/// OpenSSL's PEM_read_bio leaves the last line of the text in memory that it frees unwiped, which is all of an X25519
/// key. The functions for single blocks used here have no memory of their own.
enum Base64 {
    /// - Parameter text: white space in it is passed over.
    /// - Returns: nil for anything but the one encoding of some bytes.
    static func decode(_ text: Span<UInt8>) -> SecretBytes? {
        let digits = withoutWhiteSpace(text)
        guard !digits.bytes.isEmpty, digits.count.isMultiple(of: 4) else { return nil }
        var padding = 0
        while padding < 2, digits.bytes[digits.count - 1 - padding] == UInt8(ascii: "=") {
            padding += 1
        }
        var written: Int32 = -1
        let whole = SecretBytes(count: digits.count / 4 * 3) { bytes in
            bytes.withUnsafeMutableBufferPointer { bytes in
                digits.bytes.withUnsafeBufferPointer { digits in
                    written = EVP_DecodeBlock(bytes.baseAddress, digits.baseAddress, Int32(digits.count))
                }
            }
        }
        guard Int(written) == whole.count else { return nil }
        let decoded = SecretBytes(copying: whole.bytes.extracting(first: whole.count - padding))
        // EVP_DecodeBlock takes "=" in the middle for "A", and bits at the end that no byte has.
        return encode(decoded.bytes) == digits ? decoded : nil
    }

    static func encode(_ bytes: Span<UInt8>) -> SecretBytes {
        let count = (bytes.count + 2) / 3 * 4
        // EVP_EncodeBlock writes a zero after it.
        let digits = SecretBytes(count: count + 1) { digits in
            digits.withUnsafeMutableBufferPointer { digits in
                _ = bytes.withUnsafeBufferPointer { bytes in
                    EVP_EncodeBlock(digits.baseAddress, bytes.baseAddress, Int32(bytes.count))
                }
            }
        }
        return SecretBytes(copying: digits.bytes.extracting(first: count))
    }

    private static func withoutWhiteSpace(_ text: Span<UInt8>) -> SecretBytes {
        var count = 0
        for index in text.indices where !text[index].isWhiteSpace {
            count += 1
        }
        return SecretBytes(count: count) { digits in
            var position = 0
            for index in text.indices where !text[index].isWhiteSpace {
                digits[position] = text[index]
                position += 1
            }
        }
    }
}

extension UInt8 {
    /// Space, tab, line feed, vertical tab, form feed, carriage return: RFC 7468 section 3.
    var isWhiteSpace: Bool { self == 0x20 || (0x09...0x0d).contains(self) }
}
