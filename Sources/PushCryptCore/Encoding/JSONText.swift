import PushCryptPrimitives

/// A strict JSON text (RFC 8259): its unchanged bytes and an index of its values.
///
/// RFC 8259 lets readers differ on some texts, and an attacker can exploit two readers that differ: one checks the first
/// member of a name, the other uses the second. So these are refused: duplicate names, invalid UTF-8, a byte order mark,
/// lone surrogates, deep nesting and trailing bytes.
///
/// The bytes aren't wiped when they are freed. Code that reads keys copies `utf8` into `SecretBytes`.
package struct JSONText: Sendable {
    /// The largest depth of nested arrays and objects, including the root.
    package static let maximumDepth = 64
    /// The longest text in bytes: offsets have 32 bits.
    package static let maximumCount = Int(Int32.max)

    package var bytes: [UInt8] { storage.bytes }
    var tape: [JSONNode] { storage.tape }

    /// One object holds both arrays, so that copying a value retains only one reference.
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
    /// - Parameters:
    ///   - maximumCount: the largest accepted number of bytes, at most ``JSONText/maximumCount``.
    ///   - maximumValueCount: the largest accepted number of values, without names.
    /// - Throws: ``JSONError`` with the first violated rule.
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

    /// How many bytes the escapes take that JSON doesn't require, such as `\u00e9` and `\/`.
    package var escapingByteCount: Int {
        tape.reduce(0) { count, node in
            guard node.kind == .string, node.hasEscapes else { return count }
            var shortest: [UInt8] = []
            JSONWriter.appendString(utf8: content(of: node), to: &shortest)
            return count + node.range.count - shortest.count
        }
    }
}

// A text may contain keys: printing and dumping show only its length.
extension JSONText: CustomStringConvertible, CustomReflectable {
    package var description: String { "JSONText(\(bytes.count) bytes)" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// One value or member name on the tape, which is in the order of the text. 16 bytes.
///
/// A container is before its content, so that the children of node `i` are in `i + 1 ..< next`. A member is two children:
/// a string node for its name, then its value.
struct JSONNode: Sendable {
    /// The offsets of the first byte and of the byte after the last.
    var start: UInt32
    var end: UInt32
    /// The tape index of the next node that is not in this one. While the scanner is in a container: the tape index of the
    /// enclosing container.
    var next: UInt32
    var kind: JSONValue.Kind
    /// Whether this is a string with at least one backslash.
    var hasEscapes: Bool

    var range: Range<Int> { Int(start)..<Int(end) }

    /// The range between the quotes of a string.
    var contentRange: Range<Int> { Int(start) + 1..<Int(end) - 1 }
}

extension JSONText {
    /// Returns the bytes with one more member at the end of the root object: directly after the last member's value, or
    /// after `{` if the object is empty. ``removingFromRoot(_:)`` removes it again.
    /// - Parameter rawMember: name, colon and value, such as `"a":1`. It isn't checked: the caller ensures that it is
    ///   well-formed and that its name is new to the object.
    /// - Throws: ``JSONError`` with code `rootIsNotAnObject`.
    package func appendingToRoot(rawMember: [UInt8]) throws(JSONError) -> [UInt8] {
        guard root.kind == .object else { throw JSONError(.rootIsNotAnObject, at: root.range.lowerBound) }
        let isEmpty = tape.count == 1
        let end = isEmpty ? root.range.lowerBound + 1 : endOfMember(before: tape.count)
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count + 1 + rawMember.count)
        result += bytes[..<end]
        if !isEmpty { result.append(UInt8(ascii: ",")) }
        result += rawMember
        result += bytes[end...]
        return result
    }

    /// Returns the bytes without the root member of that name and its comma: the comma before the member with the white space
    /// around it, or after the first member. Returns the same bytes if there is no such member.
    package func removingFromRoot(_ name: String) -> [UInt8] {
        guard let value = value(of: 0, named: name) else { return bytes }
        let isFirst = value == 2
        let next = Int(tape[value].next)
        let isOnly = isFirst && next == tape.count
        let start = isFirst ? tape[1].range.lowerBound : endOfMember(before: value - 1)
        let end = isFirst && !isOnly ? tape[next].range.lowerBound : tape[value].range.upperBound
        var result = bytes
        result.removeSubrange(start..<end)
        return result
    }

    /// The offset after the last root member before this tape index.
    private func endOfMember(before name: Int) -> Int {
        var value = 2
        while Int(tape[value].next) < name { value = Int(tape[value].next) + 1 }
        return tape[value].range.upperBound
    }

    /// Returns the bytes with other JSON in the place of some values.
    /// - Parameter replacements: values of this text, none inside another, and their replacements, which aren't checked.
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
