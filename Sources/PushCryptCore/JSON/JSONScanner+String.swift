import PushCryptPrimitives

extension JSONScanner {
    //  string = quotation-mark *char quotation-mark
    //  char = unescaped / escape …
    //  unescaped = %x20-21 / %x23-5B / %x5D-10FFFF
    @inline(__always)
    mutating func scanString() throws(JSONError) {
        let start = position
        var hasEscapes = false
        position += 1
        while true {
            skipPlainASCII()
            switch try nextByte() {
            case UInt8(ascii: "\""):
                position += 1
                append(.string, from: start, hasEscapes: hasEscapes)
                return
            case UInt8(ascii: "\\"):
                hasEscapes = true
                try scanEscape()
            case 0x80...:
                try scanMultibyteCharacter()
            default:
                throw unexpectedByte()
            }
        }
    }

    @inline(__always)
    private mutating func skipPlainASCII() {
        var next = position
        while next <= bytes.count - 16 {
            let found = Self.otherThanPlainASCII(bytes.bytes.littleEndianWords(at: next))
            guard found[0] | found[1] == 0 else {
                let bits = found[0] == 0 ? 64 + found[1].trailingZeroBitCount : found[0].trailingZeroBitCount
                position = next + bits / 8
                return
            }
            next += 16
        }
        while next < bytes.count, Self.isPlainASCII(bytes[next]) { next += 1 }
        position = next
    }

    private static func isPlainASCII(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte < 0x80 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }

    /// Sixteen bytes at once: in each word the highest bit of the first one that is not plain ASCII is set, none below it,
    /// and none at all where all are plain.
    @inline(__always)
    private static func otherThanPlainASCII(_ words: SIMD2<UInt64>) -> SIMD2<UInt64> {
        let ones: UInt64 = 0x0101_0101_0101_0101
        // In a byte without its highest bit, x - n borrows from the bytes above only where x < n.
        let (below, quotes) = (words &- ones &* 0x20, (words ^ (ones &* 0x22)) &- ones)
        let backslashes = (words ^ (ones &* 0x5C)) &- ones
        return (words | below | quotes | backslashes) & (ones &* 0x80)
    }

    //  escape ( %x22 / %x5C / %x2F / %x62 / %x66 / %x6E / %x72 / %x74 / %x75 4HEXDIG )
    private mutating func scanEscape() throws(JSONError) {
        let start = position
        position += 1
        guard try nextByte() == UInt8(ascii: "u") else {
            guard JSONEscape.byte(for: bytes[position]) != nil else { throw unexpectedByte() }
            position += 1
            return
        }
        let unit = try scanCodeUnit()
        guard UTF16.isSurrogate(unit) else { return }
        // To represent an extended character that is not in the Basic Multilingual Plane, the character is
        // represented as a 12-character sequence, encoding the UTF-16 surrogate pair.
        let loneSurrogate = JSONError(.loneSurrogate, at: start)
        guard UTF16.isLeadSurrogate(unit), try nextByte() == UInt8(ascii: "\\") else { throw loneSurrogate }
        position += 1
        guard try nextByte() == UInt8(ascii: "u") else { throw loneSurrogate }
        guard UTF16.isTrailSurrogate(try scanCodeUnit()) else { throw loneSurrogate }
    }

    /// `u` and four hexadecimal digits.
    private mutating func scanCodeUnit() throws(JSONError) -> UInt16 {
        position += 1
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let digit = JSONEscape.hexadecimalValue(of: try nextByte()) else { throw unexpectedByte() }
            unit = unit << 4 | digit
            position += 1
        }
        return unit
    }

    //  UTF8-2 = %xC2-DF UTF8-tail                                              RFC 3629, section 4
    //  UTF8-3 = %xE0 %xA0-BF UTF8-tail / %xE1-EC 2( UTF8-tail ) /
    //           %xED %x80-9F UTF8-tail / %xEE-EF 2( UTF8-tail )
    //  UTF8-4 = %xF0 %x90-BF 2( UTF8-tail ) / %xF1-F3 3( UTF8-tail ) /
    //           %xF4 %x80-8F 2( UTF8-tail )
    mutating func scanMultibyteCharacter() throws(JSONError) {
        let start = position
        let tailCount: Int
        var expected: ClosedRange<UInt8> = 0x80...0xBF
        switch bytes[start] {
        case 0xC2...0xDF: tailCount = 1
        case 0xE0: (tailCount, expected) = (2, 0xA0...0xBF)
        case 0xED: (tailCount, expected) = (2, 0x80...0x9F)
        case 0xE1...0xEF: tailCount = 2
        case 0xF0: (tailCount, expected) = (3, 0x90...0xBF)
        case 0xF1...0xF3: tailCount = 3
        case 0xF4: (tailCount, expected) = (3, 0x80...0x8F)
        default: throw JSONError(.invalidUTF8, at: start)
        }
        position += 1
        for _ in 0..<tailCount {
            guard expected.contains(try nextByte()) else { throw JSONError(.invalidUTF8, at: start) }
            expected = 0x80...0xBF
            position += 1
        }
    }
}
