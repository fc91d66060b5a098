/// One value of a ``JSONText``: a reference into it, cheap to copy.
package struct JSONValue: Sendable {
    package enum Kind: Sendable {
        case object, array, string, number, boolean, null
    }

    let text: JSONText
    let index: Int

    var node: JSONNode { text.tape[index] }

    package var kind: Kind { node.kind }

    /// Where the value lies in the text; of a string, with its quotes.
    package var range: Range<Int> { node.range }

    /// The value as it stands in the text.
    package var rawBytes: ArraySlice<UInt8> { text.bytes[range] }

    /// The member of that name, compared as UTF-8 bytes; `nil` if there is none or this isn't an object.
    package subscript(name: String) -> JSONValue? {
        let tape = text.tape
        guard tape[index].kind == .object else { return nil }
        let (end, byteCount) = (Int(tape[index].next), name.utf8.count + 2)
        var key = index + 1
        while key < end {
            let node = tape[key]
            if node.hasEscapes || node.range.count == byteCount, text.content(of: node, equals: name) {
                return JSONValue(text: text, index: key + 1)
            }
            key = Int(tape[key + 1].next)
        }
        return nil
    }

    /// The unescaped UTF-8 bytes of a string: a slice of the text where there are no escapes.
    /// Secrets are read this way, because a `String` can't be wiped.
    package var utf8: ArraySlice<UInt8>? {
        kind == .string ? text.content(of: node) : nil
    }

    /// The unescaped characters of a string.
    package var string: String? {
        utf8.map { String(decoding: $0, as: UTF8.self) }
    }

    package var boolean: Bool? {
        kind == .boolean ? rawBytes.first == UInt8(ascii: "t") : nil
    }

    /// A number written as an integer in 0…2⁵³−1; `nil` for a sign, a fraction or an exponent, whatever the value.
    package var protocolInteger: Int64? {
        guard kind == .number, range.count <= 16 else { return nil }
        var integer: Int64 = 0
        for byte in rawBytes {
            guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
            integer = integer * 10 + Int64(byte - UInt8(ascii: "0"))
        }
        return integer < 1 << 53 ? integer : nil
    }

    /// The nearest `Double` to a number; `nil` where that would be infinite.
    package var double: Double? {
        guard kind == .number, let double = Double(String(decoding: rawBytes, as: UTF8.self)) else { return nil }
        return double.isFinite ? double : nil
    }
}

extension JSONValue: CustomStringConvertible, CustomReflectable {
    /// Kind and place, never content.
    package var description: String { "JSONValue(\(kind), bytes \(range))" }

    package var customMirror: Mirror { Mirror(self, children: []) }
}

extension JSONText {
    /// What a string node says, without its quotes and escapes.
    func content(of node: JSONNode) -> ArraySlice<UInt8> {
        let content = bytes[node.contentRange]
        return node.hasEscapes ? JSONEscape.removed(from: content)[...] : content
    }

    /// Compares UTF-8 bytes: `String`'s `==` holds "é" and "e\u{301}" for the same.
    func content(of node: JSONNode, equals string: String) -> Bool {
        guard !node.hasEscapes else { return content(of: node).elementsEqual(string.utf8) }
        var position = node.contentRange.lowerBound
        guard node.contentRange.count == string.utf8.count else { return false }
        for byte in string.utf8 {
            guard bytes[position] == byte else { return false }
            position += 1
        }
        return true
    }
}
