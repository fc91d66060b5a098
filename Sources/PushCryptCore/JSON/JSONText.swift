/// A JSON text (RFC 8259) that keeps the strict rules, with its bytes as they came and an index of where each value is.
///
/// The grammar leaves some texts to the reader's taste, and two readers that differ can be played off against each
/// other: one checks the first member of a name, the next uses the second. Refused, therefore, before anything else
/// looks at the bytes: duplicate names, invalid UTF-8, a byte order mark, lone surrogates, deep nesting, trailing bytes.
///
/// The bytes are an ordinary array, not wiped when it goes: whoever reads key files copies `utf8` into `SecretBytes`.
package struct JSONText: Sendable {
    /// Nested arrays and objects, the root among them.
    package static let maximumDepth = 64

    /// Offsets are kept in 32 bits.
    package static let maximumCount = Int(Int32.max)

    package var bytes: [UInt8] { storage.bytes }
    var tape: [JSONNode] { storage.tape }

    /// One reference for both: the values of a text, which are handed about a lot, each count it.
    private let storage: Storage

    private final class Storage: Sendable {
        let bytes: [UInt8]
        let tape: [JSONNode]

        init(_ bytes: [UInt8], _ tape: [JSONNode]) {
            self.bytes = bytes
            self.tape = tape
        }
    }

    /// Scans a whole text; its root may be any value.
    ///
    /// - Parameters:
    ///   - maximumCount: the most bytes accepted; never more than ``JSONText/maximumCount``.
    ///   - maximumValueCount: the most values accepted, names not counted. The scan ends at the first one too many.
    /// - Throws: ``JSONError`` with the first broken rule, every code but `rootIsNotAnObject`.
    package init(
        _ bytes: [UInt8], maximumCount: Int = Self.maximumCount, maximumValueCount: Int = .max
    ) throws(JSONError) {
        let limit = min(maximumCount, Self.maximumCount)
        guard bytes.count <= limit else { throw JSONError(.tooLong, at: limit) }
        var scanner = JSONScanner(bytes, maximumValueCount: maximumValueCount)
        try scanner.scanText()
        storage = Storage(bytes, scanner.tape)
    }

    package var root: JSONValue { JSONValue(text: self, index: 0) }
}

/// A text may hold keys: printing, dumping or a failed expectation shows its length only.
extension JSONText: CustomStringConvertible, CustomReflectable {
    package var description: String { "JSONText(\(bytes.count) bytes)" }

    package var customMirror: Mirror { Mirror(self, children: []) }
}
