import PushCryptPrimitives

/// A member of an object.
package struct JSONMember: Sendable {
    let key: JSONValue

    package let value: JSONValue

    /// The unescaped name.
    package var name: String { key.text.withContent(of: key.node) { String(utf8: $0) } }

    /// Where the name lies in the text, with its quotes.
    package var nameRange: Range<Int> { key.range }

    /// From the name's opening quote to the end of the value.
    package var range: Range<Int> { key.range.lowerBound..<value.range.upperBound }

    /// Compares UTF-8 bytes.
    package func hasName(_ name: String) -> Bool {
        key.text.content(of: key.node, equals: name)
    }
}

/// The members of an object in the order of the text; empty for any other value.
package struct JSONMembers: Collection, Sendable {
    fileprivate let children: JSONChildren

    package var startIndex: JSONChildIndex { children.startIndex }
    package var endIndex: JSONChildIndex { children.endIndex }

    package func index(after index: JSONChildIndex) -> JSONChildIndex {
        children.index(after: children.index(after: index))
    }

    package subscript(index: JSONChildIndex) -> JSONMember {
        JSONMember(key: children[index], value: children[children.index(after: index)])
    }
}

/// The elements of an array in the order of the text; empty for any other value.
package struct JSONElements: Collection, Sendable {
    fileprivate let children: JSONChildren

    package var startIndex: JSONChildIndex { children.startIndex }
    package var endIndex: JSONChildIndex { children.endIndex }

    package func index(after index: JSONChildIndex) -> JSONChildIndex { children.index(after: index) }

    package subscript(index: JSONChildIndex) -> JSONValue { children[index] }
}

/// A place on the tape. Not an integer: `elements[0]` would be the wrong element and shall not compile.
package struct JSONChildIndex: Comparable, Sendable {
    fileprivate let tapeIndex: Int

    package static func < (left: Self, right: Self) -> Bool { left.tapeIndex < right.tapeIndex }
}

extension JSONValue {
    package var members: JSONMembers { JSONMembers(children: JSONChildren(of: self, ifKind: .object)) }

    package var elements: JSONElements { JSONElements(children: JSONChildren(of: self, ifKind: .array)) }
}

/// What lies directly in a container, names and values alike.
private struct JSONChildren: Sendable {
    let text: JSONText
    let startIndex: JSONChildIndex
    let endIndex: JSONChildIndex

    init(of value: JSONValue, ifKind kind: JSONValue.Kind) {
        let node = value.node
        text = value.text
        startIndex = JSONChildIndex(tapeIndex: value.index + 1)
        endIndex = node.kind == kind ? JSONChildIndex(tapeIndex: Int(node.next)) : startIndex
    }

    func index(after index: JSONChildIndex) -> JSONChildIndex {
        JSONSteps.add(1)
        return JSONChildIndex(tapeIndex: Int(text.tape[index.tapeIndex].next))
    }

    subscript(index: JSONChildIndex) -> JSONValue {
        JSONValue(text: text, index: index.tapeIndex)
    }
}
