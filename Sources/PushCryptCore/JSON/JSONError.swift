/// Why a text was refused, and where. Never carries content: the text may hold secrets.
package struct JSONError: Error, Equatable, Sendable, CustomStringConvertible {
    package let code: Code

    /// Offset of the byte that breaks the rule. Where that is no single byte, the code says which one is meant.
    package let byteOffset: Int

    package init(_ code: Code, at byteOffset: Int) {
        self.code = code
        self.byteOffset = byteOffset
    }

    package var description: String {
        "JSON refused at byte \(byteOffset): \(code)"
    }
}

extension JSONError {
    /// The rule that was broken. More may be added: a `switch` needs a `default`.
    package struct Code: Hashable, Sendable, CustomStringConvertible {
        package let description: String

        private init(_ description: String) {
            self.description = description
        }

        /// A byte that the grammar of RFC 8259 doesn't allow here.
        package static let syntax = Code("syntax")

        /// The text ends before its value does; the offset is the length of the text.
        /// Every proper prefix of an object, array or string is refused with this code.
        package static let truncated = Code("truncated")

        /// Two members of one object have the same name; the offset is that of the later name's opening quote.
        /// Names are compared when their object is complete.
        package static let duplicateName = Code("duplicateName")

        /// Bytes that are not UTF-8 (overlong, a surrogate, beyond U+10FFFF, cut short); the offset is that of the
        /// first byte of the sequence.
        package static let invalidUTF8 = Code("invalidUTF8")

        /// The text begins with U+FEFF.
        package static let byteOrderMark = Code("byteOrderMark")

        /// A `\u` escape is half of a surrogate pair; the offset is that of its backslash.
        package static let loneSurrogate = Code("loneSurrogate")

        /// Arrays and objects nest deeper than ``JSONText/maximumDepth``; the offset is that of the opening bracket.
        package static let tooDeep = Code("tooDeep")

        /// Something other than white space follows the root value.
        package static let trailingBytes = Code("trailingBytes")

        /// The text is longer than its reader takes, at most ``JSONText/maximumCount``; the offset is that limit.
        package static let tooLong = Code("tooLong")

        /// The text has more values than its reader takes, names not counted; the offset is that of the first one too
        /// many.
        package static let tooManyValues = Code("tooManyValues")

        /// A member can only be added to an object; the offset is that of the root value.
        package static let rootIsNotAnObject = Code("rootIsNotAnObject")
    }
}
