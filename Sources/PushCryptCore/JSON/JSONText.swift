import PushCryptPrimitives

/// A JSON text (RFC 8259) that keeps the strict rules, with its bytes as they came and an index of where each value is.
///
/// The grammar leaves some texts to the reader's taste, and two readers that differ can be played off against each
/// other: one checks the first member of a name, the next uses the second. Refused, therefore, before anything else
/// looks at the bytes: duplicate names, invalid UTF-8, a byte order mark, lone surrogates, deep nesting, trailing bytes.
///
/// The bytes are an ordinary array, which isn't wiped when it is freed: code that reads key files copies `utf8` into
/// `SecretBytes`.
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

/// One value or member name on the tape: 16 bytes, in the order of the text.
///
/// The tape holds a container before its content, so that the children of node `i` lie in `i + 1 ..< next`.
/// A member is two children: a string node for its name, then its value.
struct JSONNode: Sendable {
    /// Offsets of the first byte and of the byte after the last.
    var start: UInt32
    var end: UInt32

    /// Tape index of what follows this node and everything in it.
    /// While the scanner is inside a container: tape index of the container around that one.
    var next: UInt32

    var kind: JSONValue.Kind

    /// A string with at least one backslash: its content isn't its raw bytes.
    var hasEscapes: Bool

    var range: Range<Int> { Int(start)..<Int(end) }

    /// What lies between the quotes of a string.
    var contentRange: Range<Int> { Int(start) + 1..<Int(end) - 1 }
}

extension JSONText {
    /// The bytes with one more member at the end of the root object; everything else stays byte for byte.
    ///
    /// The member goes right behind the last member's value, or behind `{` where there is none, so that white space
    /// before `}` stays where it was. ``removingFromRoot(_:)`` takes it out again.
    ///
    /// - Parameter rawMember: name, colon and value as they shall stand in the text, for example `"a":1`. Not looked
    ///   at: that it is well-formed and its name new to the object is for the caller to know.
    /// - Throws: ``JSONError`` with code `rootIsNotAnObject`.
    package func appendingToRoot(rawMember: [UInt8]) throws(JSONError) -> [UInt8] {
        guard root.kind == .object else { throw JSONError(.rootIsNotAnObject, at: root.range.lowerBound) }
        var end = root.range.lowerBound + 1
        var isEmpty = true
        for member in root.members {
            end = member.range.upperBound
            isEmpty = false
        }
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count + 1 + rawMember.count)
        result += bytes[..<end]
        if !isEmpty { result.append(UInt8(ascii: ",")) }
        result += rawMember
        result += bytes[end...]
        return result
    }

    /// The bytes without the root members of those names and their commas; unchanged where there are none.
    ///
    /// The comma before a member goes, with the white space around it; where the first members go, the comma behind
    /// them.
    package func removingFromRoot(_ names: String...) -> [UInt8] {
        guard root.kind == .object else { return bytes }
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var (key, end, keptAny) = (1, 0, false)
        while key < tape[0].next {
            let (start, next) = (tape[key].range.lowerBound, tape[key + 1].range.upperBound)
            if end == 0 { append(0..<start, to: &result) }
            if !names.contains(where: { name in content(of: tape[key], equals: name) }) {
                append((keptAny ? end : start)..<next, to: &result)
                keptAny = true
            }
            end = next
            key = Int(tape[key + 1].next)
        }
        append(end..<bytes.count, to: &result)
        return result
    }

    private func append(_ range: Range<Int>, to result: inout [UInt8]) {
        result.append(contentsOf: bytes.bytes.extracting(range))
    }
}

extension JSONText {
    /// The bytes with other text in the place of some values; everything else stays byte for byte.
    ///
    /// - Parameter replacements: values of this text, none inside another, and the JSON that takes their place, which
    ///   is not looked at.
    package func replacing(_ replacements: [(value: JSONValue, json: [UInt8])]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count + replacements.reduce(0) { $0 + $1.json.count })
        var end = 0
        for (value, json) in replacements.sorted(by: { $0.value.range.lowerBound < $1.value.range.lowerBound }) {
            result += bytes[end..<value.range.lowerBound]
            result += json
            end = value.range.upperBound
        }
        result += bytes[end...]
        return result
    }
}
