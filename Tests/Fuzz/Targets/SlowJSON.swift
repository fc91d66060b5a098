/// A second reader of strict JSON, slow and simple, to compare ``JSONText`` with. It shares no code with it.
///
/// Names and strings are unescaped bytes; numbers are their text.
indirect enum SlowJSON: Equatable {
    case object([Member])
    case array([SlowJSON])
    case string([UInt8])
    case number(String)
    case boolean(Bool)
    case null

    struct Member: Equatable {
        let name: [UInt8]
        let value: SlowJSON
    }

    /// - Returns: nil for a text that isn't strict JSON.
    init?(_ bytes: [UInt8]) {
        // RFC 3629: only valid UTF-8 survives the conversion to a string.
        let text = String(decoding: bytes, as: UTF8.self)
        guard Array(text.utf8) == bytes, bytes.prefix(3) != [0xef, 0xbb, 0xbf] else { return nil }
        var reader = SlowReader(rest: Array(text.unicodeScalars)[...])
        guard let value = reader.value(depth: 0) else { return nil }
        reader.skipSpace()
        guard reader.rest.isEmpty else { return nil }
        self = value
    }

    init?(_ bytes: ArraySlice<UInt8>) { self.init(Array(bytes)) }

    subscript(name: String) -> SlowJSON? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.name == Array(name.utf8) }?.value
    }

    var members: [Member] {
        if case .object(let members) = self { members } else { [] }
    }

    var bytes: [UInt8]? {
        if case .string(let bytes) = self { bytes } else { nil }
    }

    /// An integer of 0 to 2^53 - 1, written as digits only.
    var integer: Int? {
        guard case .number(let text) = self, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let value = Int(text)
        else { return nil }
        return value < 9_007_199_254_740_992 ? value : nil
    }

    func removing(_ names: Set<String>) -> SlowJSON {
        guard case .object(let members) = self else { return self }
        return .object(members.filter { member in !names.contains { Array($0.utf8) == member.name } })
    }

    /// Whether Foundation keeps every value: it refuses some numbers that a double can't represent (here all with more than
    /// 15 characters or an exponent), and drops U+FEFF at the start of a string and after an escape.
    var isReadByFoundation: Bool {
        switch self {
        case .object(let members):
            members.allSatisfy { SlowJSON.string($0.name).isReadByFoundation && $0.value.isReadByFoundation }
        case .array(let elements): elements.allSatisfy(\.isReadByFoundation)
        case .string(let bytes): !String(decoding: bytes, as: UTF8.self).unicodeScalars.contains("\u{feff}")
        case .number(let text): text.utf8.count <= 15 && !text.lowercased().contains("e")
        default: true
        }
    }

    var valueCount: Int {
        switch self {
        case .object(let members): 1 + members.reduce(0) { $0 + $1.value.valueCount }
        case .array(let elements): 1 + elements.reduce(0) { $0 + $1.valueCount }
        default: 1
        }
    }
}

private struct SlowReader {
    var rest: ArraySlice<Unicode.Scalar>

    mutating func skipSpace() {
        rest = rest.drop { $0 == " " || $0 == "\t" || $0 == "\n" || $0 == "\r" }
    }

    private mutating func take(_ text: String) -> Bool {
        guard rest.starts(with: text.unicodeScalars) else { return false }
        rest = rest.dropFirst(text.unicodeScalars.count)
        return true
    }

    mutating func value(depth: Int) -> SlowJSON? {
        skipSpace()
        if take("true") { return .boolean(true) }
        if take("false") { return .boolean(false) }
        if take("null") { return .null }
        switch rest.first {
        case "{": return depth < 64 ? object(depth: depth + 1) : nil
        case "[": return depth < 64 ? array(depth: depth + 1) : nil
        case "\"": return string().map(SlowJSON.string)
        default: return number()
        }
    }

    private mutating func object(depth: Int) -> SlowJSON? {
        _ = take("{")
        var members: [SlowJSON.Member] = []
        var names: Set<[UInt8]> = []
        skipSpace()
        if take("}") { return .object([]) }
        repeat {
            skipSpace()
            guard let name = string(), names.insert(name).inserted else { return nil }
            skipSpace()
            guard take(":"), let value = value(depth: depth) else { return nil }
            members.append(SlowJSON.Member(name: name, value: value))
            skipSpace()
        } while take(",")
        return take("}") ? .object(members) : nil
    }

    private mutating func array(depth: Int) -> SlowJSON? {
        _ = take("[")
        var elements: [SlowJSON] = []
        skipSpace()
        if take("]") { return .array([]) }
        repeat {
            guard let value = value(depth: depth) else { return nil }
            elements.append(value)
            skipSpace()
        } while take(",")
        return take("]") ? .array(elements) : nil
    }

    private mutating func string() -> [UInt8]? {
        guard take("\"") else { return nil }
        // Escapes may be halves of surrogate pairs, so the string is collected in UTF-16.
        var units: [UInt16] = []
        while let scalar = rest.popFirst() {
            switch scalar {
            case "\"":
                // A half of a pair from an escape must not join another half from an escape that doesn't follow directly;
                // the text itself contains no halves.
                let text = String(decoding: units, as: UTF16.self)
                return Array(text.utf16) == units ? Array(text.utf8) : nil
            case "\\":
                guard let unit = escape() else { return nil }
                units.append(unit)
            default:
                guard scalar.value >= 0x20 else { return nil }
                units += Array(String(scalar).utf16)
            }
        }
        return nil
    }

    private mutating func escape() -> UInt16? {
        guard let letter = rest.popFirst() else { return nil }
        switch letter {
        case "\"", "\\", "/": return UInt16(letter.value)
        case "b": return 8
        case "f": return 12
        case "n": return 10
        case "r": return 13
        case "t": return 9
        case "u":
            let digits = rest.prefix(4)
            rest = rest.dropFirst(4)
            guard digits.count == 4, digits.allSatisfy({ "0123456789abcdefABCDEF".unicodeScalars.contains($0) }) else {
                return nil
            }
            return UInt16(String(String.UnicodeScalarView(digits)), radix: 16)
        default: return nil
        }
    }

    /// number = [ "-" ] int [ frac ] [ exp ]
    private mutating func number() -> SlowJSON? {
        var text = take("-") ? "-" : ""
        guard let whole = digits(), whole == "0" || !whole.hasPrefix("0") else { return nil }
        text += whole
        if take(".") {
            guard let fraction = digits() else { return nil }
            text += "." + fraction
        }
        for letter in ["e", "E"] where take(letter) {
            text += letter
            for sign in ["+", "-"] where take(sign) {
                text += sign
                break
            }
            guard let exponent = digits() else { return nil }
            text += exponent
            break
        }
        return .number(text)
    }

    private mutating func digits() -> String? {
        let found = rest.prefix { "0123456789".unicodeScalars.contains($0) }
        rest = rest.dropFirst(found.count)
        return found.isEmpty ? nil : String(String.UnicodeScalarView(found))
    }
}
