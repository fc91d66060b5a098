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

    /// The kind with its article.
    package var kindText: String {
        switch kind {
        case .object: "an object"
        case .array: "an array"
        case .string: "a string"
        case .number: "a number"
        case .boolean: "true or false"
        case .null: "null"
        }
    }

    /// The range of the value in the text; for a string, with its quotes.
    package var range: Range<Int> { node.range }
    package var rawBytes: ArraySlice<UInt8> { text.bytes[range] }

    /// The member of that name, compared as UTF-8 bytes; nil if there is none or this isn't an object.
    package subscript(name: String) -> JSONValue? {
        guard let value = text.value(of: index, named: name) else { return nil }
        return JSONValue(text: text, index: value)
    }

    /// The unescaped UTF-8 bytes of a string: a slice of the text if there are no escapes. Read secrets this way, because a
    /// `String` can't be wiped.
    package var utf8: ArraySlice<UInt8>? { kind == .string ? text.content(of: node) : nil }

    /// The unescaped characters of a string.
    package var string: String? {
        kind == .string ? text.withContent(of: node) { content in String(utf8: content) } : nil
    }

    /// Whether this is the string `text`, compared as UTF-8 bytes. Never compare ``string`` with a name of the protocol:
    /// canonically equivalent characters, like K and U+212A KELVIN SIGN, are equal as `String`.
    package func isString(_ text: String) -> Bool { kind == .string && self.text.content(of: node, equals: text) }

    /// The choice whose name this string is, compared as UTF-8 bytes.
    package func choice<Choice: RawRepresentable<String>>(of choices: [Choice]) -> Choice? {
        choices.first { isString($0.rawValue) }
    }

    /// Whether this is a string with a character that a person can see.
    package var isVisibleString: Bool {
        guard kind == .string else { return false }
        // Nearly every text begins with ASCII, and needs no decoding.
        for byte in rawBytes.dropFirst() {
            if byte == UInt8(ascii: "\\") || byte == UInt8(ascii: "\"") || byte >= 0x7F { break }
            if byte > UInt8(ascii: " ") { return true }
        }
        return string?.isVisible ?? false
    }

    package var boolean: Bool? { kind == .boolean ? rawBytes.first == UInt8(ascii: "t") : nil }

    /// An integer in 0...2^53-1; nil for other values, and for a sign, a fraction or an exponent.
    package var protocolInteger: Int64? {
        guard kind == .number, range.count <= 16 else { return nil }
        var integer: Int64 = 0
        for byte in rawBytes {
            guard byte.isDigit else { return nil }
            integer = integer * 10 + Int64(byte - UInt8(ascii: "0"))
        }
        return integer < 1 << 53 ? integer : nil
    }

    /// The nearest `Double` to a number; nil if that is infinite.
    package var double: Double? {
        guard kind == .number, let double = Double(String(decoding: rawBytes, as: UTF8.self)) else { return nil }
        return double.isFinite ? double : nil
    }
}

extension JSONValue: CustomStringConvertible, CustomReflectable {
    /// The kind and the range, never the content.
    package var description: String { "JSONValue(\(kind), bytes \(range))" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

extension JSONText {
    /// The tape index of the value of the member of that name; nil if there is none or `object` isn't one.
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

    /// Calls `body` with each member's name and the tape index of its value, without counting references to the text.
    @inline(__always)
    func visitMembers(of object: Int, _ body: (_ name: JSONNode, _ value: Int) -> Void) {
        let end = Int(tape[object].next)
        var key = object + 1
        while key < end {
            body(tape[key], key + 1)
            key = Int(tape[key + 1].next)
        }
    }

    /// The content of a string node, without quotes and escapes.
    func content(of node: JSONNode) -> ArraySlice<UInt8> {
        let content = bytes[node.contentRange]
        return node.hasEscapes ? JSONEscape.removed(from: content)[...] : content
    }

    @inline(__always)
    func withContent<Result>(of node: JSONNode, _ body: (Span<UInt8>) -> Result) -> Result {
        guard !node.hasEscapes else { return body(JSONEscape.removed(from: bytes[node.contentRange]).bytes) }
        return body(bytes.bytes.extracting(node.contentRange))
    }

    /// Compares UTF-8 bytes, because "é" and "e\u{301}" are equal as `String`.
    ///
    /// Lookups compare many names, so a name whose length can't match isn't read. An escape has at most six times the bytes
    /// of its character.
    @inline(__always)
    func content(of node: JSONNode, equals string: String) -> Bool {
        let (count, wanted) = (node.contentRange.count, string.utf8.count)
        JSONSteps.add(1)
        guard node.hasEscapes ? wanted <= count && count <= 6 * wanted : count == wanted else { return false }
        JSONSteps.add(wanted)
        return withContent(of: node) { content in content.isEqual(utf8: string) }
    }
}

/// A member of an object.
package struct JSONMember: Sendable {
    let key: JSONValue

    package let value: JSONValue

    /// The unescaped name.
    package var name: String { key.text.withContent(of: key.node) { String(utf8: $0) } }

    /// The range of the name in the text, with its quotes.
    package var nameRange: Range<Int> { key.range }

    /// The range from the name's opening quote to the end of the value.
    package var range: Range<Int> { key.range.lowerBound..<value.range.upperBound }

    /// Compares UTF-8 bytes.
    package func hasName(_ name: String) -> Bool { key.text.content(of: key.node, equals: name) }
}

extension JSONValue {
    /// The members of an object in the order of the text; empty for any other value.
    package var members: JSONChildren<JSONMember> { JSONChildren(of: self, .object) }

    /// The elements of an array in the order of the text; empty for any other value.
    package var elements: JSONChildren<JSONValue> { JSONChildren(of: self, .array) }
}

/// The members of an object or the elements of an array. Each is made when it is read, because an array of all members of a
/// large payload would take much of an extension's memory.
package struct JSONChildren<Child: JSONChild>: Collection, Sendable {
    /// A tape index. Not an integer, so that `elements[0]` doesn't compile.
    package struct Index: Comparable, Sendable {
        fileprivate let node: Int

        package static func < (left: Self, right: Self) -> Bool { left.node < right.node }
    }

    private let text: JSONText
    package let startIndex, endIndex: Index

    fileprivate init(of container: JSONValue, _ kind: JSONValue.Kind) {
        let node = container.node
        text = container.text
        startIndex = Index(node: container.index + 1)
        endIndex = node.kind == kind ? Index(node: Int(node.next)) : startIndex
    }

    package func index(after index: Index) -> Index {
        JSONSteps.add(Child.nodeCount)
        return Index(node: Int(text.tape[index.node + Child.nodeCount - 1].next))
    }

    package subscript(index: Index) -> Child { Child(text, at: index.node) }
}

package protocol JSONChild: Sendable {
    /// The nodes before the content: a name and a value, or a value.
    static var nodeCount: Int { get }
    init(_ text: JSONText, at index: Int)
}

extension JSONValue: JSONChild {
    package static let nodeCount = 1

    package init(_ text: JSONText, at index: Int) { self.init(text: text, index: index) }
}

extension JSONMember: JSONChild {
    package static let nodeCount = 2

    package init(_ text: JSONText, at index: Int) {
        self.init(key: JSONValue(text: text, index: index), value: JSONValue(text: text, index: index + 1))
    }
}
