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

    /// Finds the first byte of each word that is not plain ASCII: the lowest set bit is the highest bit of that byte. The word
    /// is 0 if all bytes are plain.
    @inline(__always)
    private static func otherThanPlainASCII(_ words: SIMD2<UInt64>) -> SIMD2<UInt64> {
        let ones: UInt64 = 0x0101_0101_0101_0101
        // In a byte without its highest bit, x - n borrows from the next byte only if x < n.
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
        // RFC 8259 section 7: a character outside of the Basic Multilingual Plane is a surrogate pair of two escapes.
        let loneSurrogate = JSONError(.loneSurrogate, at: start)
        guard UTF16.isLeadSurrogate(unit), try nextByte() == UInt8(ascii: "\\") else { throw loneSurrogate }
        position += 1
        guard try nextByte() == UInt8(ascii: "u") else { throw loneSurrogate }
        guard UTF16.isTrailSurrogate(try scanCodeUnit()) else { throw loneSurrogate }
    }

    /// Scans `u` and four hexadecimal digits.
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

//  char = unescaped /
//      escape (
//          %x22 /          ; "    quotation mark  U+0022
//          %x5C /          ; \    reverse solidus U+005C
//          %x2F /          ; /    solidus         U+002F
//          %x62 /          ; b    backspace       U+0008
//          %x66 /          ; f    form feed       U+000C
//          %x6E /          ; n    line feed       U+000A
//          %x72 /          ; r    carriage return U+000D
//          %x74 /          ; t    tab             U+0009
//          %x75 4HEXDIG )  ; u and four hexadecimal digits
enum JSONEscape {
    /// The byte that a backslash and this letter encode; nil for `u` and for other letters.
    static func byte(for letter: UInt8) -> UInt8? {
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): letter
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "t"): 0x09
        default: nil
        }
    }

    static func hexadecimalValue(of digit: UInt8) -> UInt16? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt16(digit - UInt8(ascii: "0"))
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt16(digit - UInt8(ascii: "A")) + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt16(digit - UInt8(ascii: "a")) + 10
        default: nil
        }
    }

    /// Unescapes the content of a string that the scanner has accepted.
    static func removed(from content: ArraySlice<UInt8>) -> [UInt8] {
        JSONSteps.add(content.count)
        var result: [UInt8] = []
        // No escape is shorter than the bytes that it encodes.
        result.reserveCapacity(content.count)
        var rest = content
        while let first = rest.popFirst() {
            guard first == UInt8(ascii: "\\"), let letter = rest.popFirst() else {
                result.append(first)
                continue
            }
            if let byte = byte(for: letter) {
                result.append(byte)
            } else {
                result += character(fromHexadecimal: &rest).utf8
            }
        }
        return result
    }

    /// Reads the character whose `\u` was removed from `rest`.
    private static func character(fromHexadecimal rest: inout ArraySlice<UInt8>) -> Unicode.Scalar {
        var value = UInt32(codeUnit(fromHexadecimal: &rest))
        if UTF16.isLeadSurrogate(UInt16(value)) {
            rest.removeFirst(2)
            let trail = UInt32(codeUnit(fromHexadecimal: &rest))
            value = 0x10000 + (value - 0xD800) << 10 + (trail - 0xDC00)
        }
        // Never nil: the scanner refuses lone surrogates.
        return Unicode.Scalar(value)!
    }

    private static func codeUnit(fromHexadecimal rest: inout ArraySlice<UInt8>) -> UInt16 {
        defer { rest.removeFirst(4) }
        return rest.prefix(4).reduce(0) { $0 << 4 | (hexadecimalValue(of: $1) ?? 0) }
    }
}

/// Writes JSON strings. It escapes only what the grammar requires: `"`, `\` and control characters.
package enum JSONWriter {
    /// Appends the string with its quotes.
    package static func appendString(_ string: String, to output: inout [UInt8]) { append(string.utf8, to: &output) }

    /// - Parameter utf8: valid UTF-8, which isn't checked.
    package static func appendString(utf8: ArraySlice<UInt8>, to output: inout [UInt8]) { append(utf8, to: &output) }

    /// The JSON text with `\u` escapes for the characters in its strings that change how text is shown (`isControlOrFormat`), for a text
    /// that people read. U+202E RIGHT-TO-LEFT OVERRIDE, for instance, changes how a terminal shows the text after it. Bytes below
    /// 0x20 stay: in a JSON text they are white space between values.
    package static func escapingInvisible(_ json: [UInt8]) -> [UInt8] {
        guard json.contains(where: { $0 >= 0x7F }) else { return json }
        var output: [UInt8] = []
        output.reserveCapacity(json.count)
        for scalar in String(decoding: json, as: UTF8.self).unicodeScalars {
            guard scalar.isControlOrFormat, scalar.value >= 0x20 else {
                output += UTF8.encode(scalar)!
                continue
            }
            for unit in UTF16.encode(scalar)! {
                let digits = String(unit, radix: 16)
                output += "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".utf8
            }
        }
        return output
    }

    // Private, because a generic function is slow when another module calls it.
    private static func append(_ utf8: some Collection<UInt8>, to output: inout [UInt8]) {
        output.append(UInt8(ascii: "\""))
        let start = output.count
        output += utf8
        // Most strings need no escape, and searching an array is faster than searching a string.
        if let firstEscaped = output[start...].firstIndex(where: needsEscape) {
            let rest = Array(output[firstEscaped...])
            output.removeSubrange(firstEscaped...)
            for byte in rest { appendEscaped(byte, to: &output) }
        }
        output.append(UInt8(ascii: "\""))
    }

    private static func needsEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    /// The string below lists the letters of the bytes that need an escape. "/" has a letter, too, but needs no escape.
    private static func appendEscaped(_ byte: UInt8, to output: inout [UInt8]) {
        if !needsEscape(byte) {
            output.append(byte)
        } else if let letter = "\"\\bfnrt".utf8.first(where: { JSONEscape.byte(for: $0) == byte }) {
            output += [UInt8(ascii: "\\"), letter]
        } else {
            output += "\\u00\(byte < 16 ? "0" : "")\(String(byte, radix: 16))".utf8
        }
    }
}
