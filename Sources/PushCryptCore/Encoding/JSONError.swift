import PushCryptPrimitives

/// Why a JSON text was refused, and where. It contains nothing of the text, which may contain secrets.
package struct JSONError: Error, Equatable, Sendable, CustomStringConvertible {
    package let code: Code
    /// The offset of the byte that violates the rule; see the code.
    package let byteOffset: Int

    package init(_ code: Code, at byteOffset: Int) {
        self.code = code
        self.byteOffset = byteOffset
    }

    package var description: String {
        let expected = code == .syntax && byteOffset == 0 ? "it must begin with a JSON value, such as {" : "\(code)"
        return "JSON refused at byte \(byteOffset): \(expected)"
    }
}

extension JSONError {
    /// The violated rule.
    package enum Code: Hashable, Sendable, CustomStringConvertible {
        /// The grammar of RFC 8259 doesn't allow this byte here.
        case syntax
        /// The text ends before its value does; the offset is the length of the text.
        case truncated
        /// Two members of one object have the same name; the offset is that of the later name's opening quote.
        case duplicateName
        /// Bytes are not UTF-8 (overlong, a surrogate, above U+10FFFF, truncated); the offset is that of the first byte of
        /// the sequence.
        case invalidUTF8
        /// The text begins with U+FEFF.
        case byteOrderMark
        /// The text is UTF-16, with a byte order mark or without.
        case utf16
        /// A `\u` escape is half of a surrogate pair; the offset is that of its backslash.
        case loneSurrogate
        /// Arrays and objects nest deeper than ``JSONText/maximumDepth``; the offset is that of the opening bracket.
        case tooDeep
        /// Something other than white space follows the root value.
        case trailingBytes
        /// The text is longer than its reader accepts; the offset is the limit.
        case tooLong
        /// The text has more values than its reader accepts, without names; the offset is that of the first value above the
        /// limit.
        case tooManyValues
        /// A member can be added only to an object; the offset is that of the root value.
        case rootIsNotAnObject
    }
}

extension JSONError.Code {
    package var description: String {
        switch self {
        case .syntax: "JSON doesn't allow this character here"
        case .truncated: "the text ends before its JSON value does"
        case .duplicateName: "a name occurs twice in an object"
        case .invalidUTF8: "not UTF-8"
        case .byteOrderMark: "the text is \(TextEncoding.utf8WithByteOrderMark.flaw)"
        case .utf16: "the text is \(TextEncoding.bigEndianUTF16.flaw)"
        case .loneSurrogate: "half of a surrogate pair"
        case .tooDeep: "arrays and objects nested too deeply"
        case .trailingBytes: "more text after the JSON value"
        case .tooLong: "too long"
        case .tooManyValues: "too many values"
        case .rootIsNotAnObject: "not an object"
        }
    }
}
