import PushCryptTestSupport
import Testing

@testable import PushCryptCore

extension JSONText {
    init(text: String) throws(JSONError) {
        try self.init(Array(text.utf8))
    }

    /// Every value in the text, containers before their content.
    var allValues: [JSONValue] {
        func descend(_ value: JSONValue) -> [JSONValue] {
            [value] + value.members.flatMap { descend($0.value) } + value.elements.flatMap(descend)
        }
        return descend(root)
    }
}

/// A text that must be refused, with the code and offset of the error.
struct RefusedJSON: Sendable, CustomTestStringConvertible {
    let bytes: [UInt8]
    let error: JSONError

    init(_ text: String, _ code: JSONError.Code, at offset: Int) {
        self.init(Array(text.utf8), code, at: offset)
    }

    init(_ bytes: [UInt8], _ code: JSONError.Code, at offset: Int) {
        self.bytes = bytes
        error = JSONError(code, at: offset)
    }

    var testDescription: String { "\(readable(bytes)): \(error)" }

    func expectRefusal(_ location: SourceLocation = #_sourceLocation) {
        #expect(throws: error, "\(readable(bytes))", sourceLocation: location) { try JSONText(bytes) }
    }
}

/// The text itself, or its bytes where they aren't UTF-8.
func readable(_ bytes: [UInt8]) -> String {
    let text = String(decoding: bytes, as: UTF8.self)
    return Array(text.utf8) == bytes ? text : "\(bytes)"
}

/// Random valid documents that use all forms of the grammar.
struct JSONTestGenerator {
    private var random: SplitMix64
    private var output = ""

    init(seed: UInt64) {
        random = SplitMix64(seed: seed)
    }

    mutating func document() -> [UInt8] {
        output = ""
        let wrappers = oneIn(6) ? below(JSONText.maximumDepth - 5) : 0
        let closing = (0..<wrappers).map { _ in openWrapper() }
        writeValue(depth: 5)
        output += closing.reversed().joined()
        writeWhiteSpace()
        return Array(output.utf8)
    }

    /// A document with an object at the root.
    mutating func object() -> [UInt8] {
        output = ""
        writeWhiteSpace()
        writeObject(depth: 4)
        writeWhiteSpace()
        return Array(output.utf8)
    }

    /// One byte replaced, inserted or removed.
    mutating func mutation(of bytes: [UInt8]) -> [UInt8] {
        var mutated = bytes
        let place = below(bytes.count)
        let significant =
            Array("{}[]\",:\\/-+.eE0159utfn \n".utf8) + [0x00, 0x1F, 0x7F, 0x80, 0xBF, 0xC3, 0xED, 0xF4, 0xFF]
        let byte = oneIn(3) ? UInt8.random(in: 0...255, using: &random) : pick(significant)
        switch below(3) {
        case 0: mutated[place] = byte
        case 1: mutated.insert(byte, at: place)
        default: mutated.remove(at: place)
        }
        return mutated
    }

    mutating func string() -> String {
        String((0..<below(12)).map { _ in Character(scalar()) })
    }

    private mutating func openWrapper() -> String {
        writeWhiteSpace()
        if oneIn(2) {
            output += "["
            return "]"
        }
        output += "{\"w\":"
        return "}"
    }

    private mutating func writeValue(depth: Int) {
        writeWhiteSpace()
        switch below(depth > 0 ? 8 : 5) {
        case 0: output += pick(["true", "false", "null"])
        case 1, 2: writeNumber()
        case 3, 4: writeString(string())
        case 5: writeArray(depth: depth)
        default: writeObject(depth: depth)
        }
        writeWhiteSpace()
    }

    private mutating func writeArray(depth: Int) {
        output += "["
        writeWhiteSpace()
        for index in 0..<below(5) {
            if index > 0 { output += "," }
            writeValue(depth: depth - 1)
        }
        output += "]"
    }

    private mutating func writeObject(depth: Int) {
        output += "{"
        writeWhiteSpace()
        var names = Set<String>()
        for _ in 0..<(oneIn(20) ? below(50) : below(6)) {
            let name = string()
            guard names.insert(name).inserted else { continue }
            if names.count > 1 { output += "," }
            writeWhiteSpace()
            writeString(name)
            writeWhiteSpace()
            output += ":"
            writeValue(depth: depth - 1)
        }
        output += "}"
    }

    /// Never beyond the largest `Double`: at most 25 digits before the point and an exponent up to 280.
    private mutating func writeNumber() {
        if oneIn(3) { output += "-" }
        output += oneIn(4) ? "0" : "\(1 + below(9))" + digits(oneIn(4) ? below(25) : below(6))
        if oneIn(3) { output += "." + digits(1 + below(20)) }
        if oneIn(3) { output += pick(["e", "E"]) + pick(["", "+", "-"]) + pick(["", "0", "00"]) + "\(below(280))" }
    }

    private mutating func digits(_ count: Int) -> String {
        (0..<count).map { _ in "\(below(10))" }.joined()
    }

    private mutating func writeString(_ string: String) {
        output += "\""
        for scalar in string.unicodeScalars { writeCharacter(scalar) }
        output += "\""
    }

    private mutating func writeCharacter(_ scalar: Unicode.Scalar) {
        let short: [Unicode.Scalar: String] = [
            "\"": "\\\"", "\\": "\\\\", "/": "\\/", "\u{8}": "\\b", "\u{C}": "\\f", "\n": "\\n", "\r": "\\r",
            "\t": "\\t",
        ]
        let mustBeEscaped = scalar.value < 0x20 || scalar == "\"" || scalar == "\\"
        if let short = short[scalar], oneIn(2) {
            output += short
        } else if mustBeEscaped || oneIn(6) {
            for unit in String(scalar).utf16 {
                let digits = String(unit, radix: 16, uppercase: oneIn(2))
                output += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }
        } else {
            output.unicodeScalars.append(scalar)
        }
    }

    /// U+FEFF is left out: Foundation on Linux drops it.
    private mutating func scalar() -> Unicode.Scalar {
        let ranges: [ClosedRange<UInt32>] = [
            0x61...0x7A, 0x20...0x7E, 0x00...0x22, 0x2F...0x2F, 0x5C...0x5C, 0x7F...0x7FF, 0x800...0xD7FF,
            0xE000...0xFEFE, 0xFF00...0xFFFF, 0x1F600...0x1F64F, 0x10000...0x10FFFF,
        ]
        let value = UInt32.random(in: pick(ranges), using: &random)
        return Unicode.Scalar(value) ?? "?"
    }

    private mutating func writeWhiteSpace() {
        while oneIn(5) { output += pick([" ", "\t", "\n", "\r", "\r\n"]) }
    }

    private mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }

    private mutating func oneIn(_ count: Int) -> Bool { below(count) == 0 }

    private mutating func pick<Element>(_ choices: [Element]) -> Element { choices[below(choices.count)] }
}
