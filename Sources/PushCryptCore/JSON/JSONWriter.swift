/// Writes JSON strings with as few escapes as the grammar allows: `"`, `\` and control characters, not `/`.
package enum JSONWriter {
    /// Appends the string with its quotes.
    package static func appendString(_ string: String, to output: inout [UInt8]) {
        append(string.utf8, to: &output)
    }

    package static func appendString(_ string: Substring, to output: inout [UInt8]) {
        append(string.utf8, to: &output)
    }

    /// - Parameter utf8: valid UTF-8; not looked at.
    package static func appendString(utf8: ArraySlice<UInt8>, to output: inout [UInt8]) {
        append(utf8, to: &output)
    }

    /// The exact number of bytes that `appendString` appends, quotes among them.
    package static func encodedCount(of string: String) -> Int { encodedCount(string.utf8) }

    package static func encodedCount(of string: Substring) -> Int { encodedCount(string.utf8) }

    package static func encodedCount(ofUTF8 utf8: ArraySlice<UInt8>) -> Int { encodedCount(utf8) }
}

//  Not generic above: a generic function is slow when it is called from another module.
extension JSONWriter {
    private static func append(_ utf8: some Collection<UInt8>, to output: inout [UInt8]) {
        output.append(UInt8(ascii: "\""))
        let start = output.count
        output += utf8
        // Most strings need no escape, and an array is searched faster than a string.
        if let firstEscaped = output[start...].firstIndex(where: { encodedCount($0) > 1 }) {
            let rest = Array(output[firstEscaped...])
            output.removeSubrange(firstEscaped...)
            for byte in rest { appendEscaped(byte, to: &output) }
        }
        output.append(UInt8(ascii: "\""))
    }

    private static func encodedCount(_ utf8: some Collection<UInt8>) -> Int {
        utf8.reduce(2) { $0 + encodedCount($1) }
    }

    private static func encodedCount(_ byte: UInt8) -> Int {
        guard byte < 0x20 else { return byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") ? 2 : 1 }
        return JSONEscape.letter(for: byte) == nil ? 6 : 2
    }

    private static func appendEscaped(_ byte: UInt8, to output: inout [UInt8]) {
        if encodedCount(byte) == 1 {
            output.append(byte)
        } else if let letter = JSONEscape.letter(for: byte) {
            output += [UInt8(ascii: "\\"), letter]
        } else {
            output += "\\u00".utf8
            output += [JSONEscape.hexadecimalDigit(byte >> 4), JSONEscape.hexadecimalDigit(byte & 15)]
        }
    }
}
