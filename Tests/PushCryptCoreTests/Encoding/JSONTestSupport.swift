import Testing

@testable import PushCryptCore

extension JSONText {
    init(text: String) throws(JSONError) {
        try self.init(Array(text.utf8))
    }

    /// Every value in the text, containers before their content.
    var allValues: [JSONValue] {
        func descend(_ value: JSONValue) -> [JSONValue] {
            [value] + value.members.flatMap { descend($0.value) } + value.elements.flatMap(descend)
        }
        return descend(root)
    }
}

/// A text that must be refused, with the code and offset of the error.
struct RefusedJSON: Sendable, CustomTestStringConvertible {
    let bytes: [UInt8]
    let error: JSONError

    init(_ text: String, _ code: JSONError.Code, at offset: Int) {
        self.init(Array(text.utf8), code, at: offset)
    }

    init(_ bytes: [UInt8], _ code: JSONError.Code, at offset: Int) {
        self.bytes = bytes
        error = JSONError(code, at: offset)
    }

    var testDescription: String { "\(readable(bytes)): \(error)" }

    func expectRefusal(_ location: SourceLocation = #_sourceLocation) {
        #expect(throws: error, "\(readable(bytes))", sourceLocation: location) { try JSONText(bytes) }
    }
}

/// The text itself, or its bytes where they aren't UTF-8.
func readable(_ bytes: [UInt8]) -> String {
    let text = String(decoding: bytes, as: UTF8.self)
    return Array(text.utf8) == bytes ? text : "\(bytes)"
}
