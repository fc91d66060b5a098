package import PushCryptPrimitives

/// Base64 (RFC 4648 section 4) of bytes that may be secret. No copy of the bytes or of their text stays in memory.
package enum Base64 {
    /// The texts that are decoded.
    package enum Variant: Sendable {
        /// The standard alphabet, with padding, as in PEM.
        case padded
        /// The standard or the URL-safe alphabet, with or without padding.
        case any
    }

    /// The text, with padding. The caller wipes it if the bytes are secret.
    package static func encode(_ bytes: Span<UInt8>) -> [UInt8] {
        var text = [UInt8]()
        // An array that grows would leave copies of a secret in memory.
        text.reserveCapacity(4 + bytes.count * 4 / 3)
        Base64URL.append(bytes, to: &text)
        for index in text.indices {
            if text[index] == UInt8(ascii: "-") { text[index] = UInt8(ascii: "+") }
            if text[index] == UInt8(ascii: "_") { text[index] = UInt8(ascii: "/") }
        }
        while text.count % 4 != 0 { text.append(UInt8(ascii: "=")) }
        return text
    }

    /// The bytes of `text`; nil for an empty text and for anything but the one encoding of some bytes.
    ///
    /// - Parameter text: white space in it is ignored.
    package static func decode(_ text: Span<UInt8>, _ variant: Variant) -> SecretBytes? {
        var characters = [UInt8]()
        characters.reserveCapacity(text.count)
        defer { wipe(&characters) }
        for index in text.indices where !text[index].isWhiteSpace {
            characters.append(text[index])
        }
        let padding = characters.reversed().prefix { $0 == UInt8(ascii: "=") }.count
        guard padding <= 2, characters.count > padding else { return nil }
        guard variant == .any || characters.count.isMultiple(of: 4) else { return nil }
        characters.removeLast(padding)
        for index in characters.indices {
            switch characters[index] {
            case UInt8(ascii: "+"): characters[index] = UInt8(ascii: "-")
            case UInt8(ascii: "/"): characters[index] = UInt8(ascii: "_")
            case UInt8(ascii: "-"), UInt8(ascii: "_"):
                guard variant == .any else { return nil }
            default: break
            }
        }
        return Base64URL.decodeSecret(characters[...])
    }
}

extension UInt8 {
    /// Space, tab, line feed, vertical tab, form feed or carriage return (RFC 7468 section 3).
    package var isWhiteSpace: Bool { self == 0x20 || (0x09...0x0d).contains(self) }
}
