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
    /// What a backslash and this letter stand for; `nil` if nothing, or if it is `u`.
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

    /// The letter that stands for this byte behind a backslash, where there is one.
    static func letter(for byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): byte
        case 0x08: UInt8(ascii: "b")
        case 0x0C: UInt8(ascii: "f")
        case 0x0A: UInt8(ascii: "n")
        case 0x0D: UInt8(ascii: "r")
        case 0x09: UInt8(ascii: "t")
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

    static func hexadecimalDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }

    /// Unescapes what stands between the quotes of a string; only for strings that the scanner let pass.
    static func removed(from content: ArraySlice<UInt8>) -> [UInt8] {
        JSONSteps.add(content.count)
        var result: [UInt8] = []
        // No escape is shorter than what it stands for.
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

    /// The character whose `\u` was just taken from `rest`.
    private static func character(fromHexadecimal rest: inout ArraySlice<UInt8>) -> Unicode.Scalar {
        var value = UInt32(codeUnit(fromHexadecimal: &rest))
        if UTF16.isLeadSurrogate(UInt16(value)) {
            rest.removeFirst(2)
            let trail = UInt32(codeUnit(fromHexadecimal: &rest))
            value = 0x10000 + (value - 0xD800) << 10 + (trail - 0xDC00)
        }
        // Never nil: the scanner refuses surrogates without their other half.
        return Unicode.Scalar(value)!
    }

    private static func codeUnit(fromHexadecimal rest: inout ArraySlice<UInt8>) -> UInt16 {
        defer { rest.removeFirst(4) }
        return rest.prefix(4).reduce(0) { $0 << 4 | (hexadecimalValue(of: $1) ?? 0) }
    }
}
