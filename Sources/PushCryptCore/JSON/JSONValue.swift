import PushCryptPrimitives

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
        guard let value = text.value(of: index, named: name) else { return nil }
        return JSONValue(text: text, index: value)
    }

    /// The unescaped UTF-8 bytes of a string: a slice of the text where there are no escapes.
    /// Secrets are read this way, because a `String` can't be wiped.
    package var utf8: ArraySlice<UInt8>? {
        kind == .string ? text.content(of: node) : nil
    }

    /// The unescaped characters of a string.
    package var string: String? {
        kind == .string ? text.withContent(of: node) { content in String(utf8: content) } : nil
    }

    /// Whether this is a string with something in it.
    package var isNonEmptyString: Bool {
        let node = node
        return node.kind == .string && !node.contentRange.isEmpty
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
    /// Tape index of the value of the member of that name; `nil` if there is none or `object` isn't one.
    func value(of object: Int, named name: String) -> Int? {
        guard tape[object].kind == .object else { return nil }
        let end = Int(tape[object].next)
        var key = object + 1
        while key < end {
            if content(of: tape[key], equals: name) { return key + 1 }
            key = Int(tape[key + 1].next)
        }
        return nil
    }

    /// What a string node says, without its quotes and escapes.
    func content(of node: JSONNode) -> ArraySlice<UInt8> {
        let content = bytes[node.contentRange]
        return node.hasEscapes ? JSONEscape.removed(from: content)[...] : content
    }

    /// The same where it isn't kept.
    @inline(__always)
    func withContent<Result>(of node: JSONNode, _ body: (Span<UInt8>) -> Result) -> Result {
        guard !node.hasEscapes else { return body(JSONEscape.removed(from: bytes[node.contentRange]).bytes) }
        return body(bytes.bytes.extracting(node.contentRange))
    }

    /// Compares UTF-8 bytes: `String`'s `==` holds "é" and "e\u{301}" for the same.
    ///
    /// Every object is asked for many names. So a name that is too long to be this one costs nothing but a look at its
    /// length, with escapes too: the longest escape of a byte has six.
    @inline(__always)
    func content(of node: JSONNode, equals string: String) -> Bool {
        let (count, wanted) = (node.contentRange.count, string.utf8.count)
        JSONSteps.add(1)
        guard node.hasEscapes ? wanted <= count && count <= 6 * wanted : count == wanted else { return false }
        JSONSteps.add(wanted)
        return withContent(of: node) { content in content.isEqual(utf8: string) }
    }
}
