import PushCryptPrimitives

/// What of the Distinguished Encoding Rules (X.690) the containers need.
enum DER {
    enum Tag: UInt8 {
        case integer = 0x02
        case bitString = 0x03
        case octetString = 0x04
        case null = 0x05
        case objectIdentifier = 0x06
        case sequence = 0x30
        /// [0] and [1] around an element or a set of elements.
        case constructed0 = 0xa0
        case constructed1 = 0xa1
        /// [1] in place of a primitive type's own tag.
        case primitive1 = 0x81
    }

    /// Tag and length of an element whose content has `count` bytes.
    static func header(_ tag: Tag, _ count: Int) -> [UInt8] {
        guard count > 0x7f else { return [tag.rawValue, UInt8(count)] }
        let length = bigEndian(count)
        return [tag.rawValue, 0x80 | UInt8(length.count)] + length
    }

    /// An element with public content: arrays that grow leave copies behind.
    static func element(_ tag: Tag, _ contents: [UInt8]...) -> [UInt8] {
        let content = contents.flatMap(\.self)
        return header(tag, content.count) + content
    }

    /// A BIT STRING of whole bytes.
    static func bitString(_ bytes: [UInt8]) -> [UInt8] { element(.bitString, [0], bytes) }

    /// A positive INTEGER.
    static func integer(_ value: Int) -> [UInt8] {
        let bytes = bigEndian(value)
        return element(.integer, bytes[0] > 0x7f ? [0] : [], bytes)
    }

    private static func bigEndian(_ value: Int) -> [UInt8] {
        let bytes = stride(from: Int.bitWidth - 8, through: 0, by: -8).map { UInt8(truncatingIfNeeded: value >> $0) }
        return Array(bytes.drop { $0 == 0 })
    }
}

extension SecretBytes {
    /// A secret between public bytes.
    convenience init(joining front: [UInt8], _ secret: SecretBytes, _ back: [UInt8] = []) {
        self.init(count: front.count + secret.count + back.count) { bytes in
            for index in front.indices {
                bytes[index] = front[index]
            }
            for index in 0..<secret.count {
                bytes[front.count + index] = secret.bytes[index]
            }
            for index in back.indices {
                bytes[front.count + secret.count + index] = back[index]
            }
        }
    }
}
