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

/// A text that must be refused, why and where.
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

/// SplitMix64: the same documents on every machine and in every run.
struct JSONTestRandom: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
