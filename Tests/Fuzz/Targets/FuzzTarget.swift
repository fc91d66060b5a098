/// A function of one input that checks properties of the code that reads such inputs.
///
/// libFuzzer calls it with mutated inputs (Tests/Fuzz/run), and `swift test` with each line of Tests/Fuzz/corpora.
package struct FuzzTarget: Sendable, CustomStringConvertible {
    /// The name of the target and of its folder of inputs.
    package let name: String
    /// Throws ``Violation``, or an error that the code under test must not throw.
    package let run: @Sendable ([UInt8]) throws -> Void

    package var description: String { name }

    package static let all: [FuzzTarget] = [
        FuzzTarget(name: "base64url", run: fuzzBase64URL),
        FuzzTarget(name: "json", run: fuzzJSON),
        FuzzTarget(name: "outer", run: fuzzOuterPayload),
        FuzzTarget(name: "message", run: fuzzMessage),
        FuzzTarget(name: "blob", run: fuzzBlob),
        FuzzTarget(name: "reference", run: fuzzReferences),
        FuzzTarget(name: "jwk", run: fuzzKeySet),
        FuzzTarget(name: "container", run: fuzzContainer),
        FuzzTarget(name: "keyset", run: fuzzKeysetFile),
        FuzzTarget(name: "record", run: fuzzRecord),
        FuzzTarget(name: "line", run: fuzzQueueLine),
    ]
}

/// A property that an input violates.
package struct Violation: Error, CustomStringConvertible {
    package let description: String
}

func require(_ condition: Bool, _ property: @autoclosure () -> String) throws(Violation) {
    guard condition else { throw Violation(description: "violated: \(property())") }
}

func require<Value>(_ value: Value?, _ property: @autoclosure () -> String) throws(Violation) -> Value {
    guard let value else { throw Violation(description: "violated: \(property())") }
    return value
}

/// The control bytes at the start of an input. Missing ones are 0.
struct FuzzInput {
    private(set) var rest: ArraySlice<UInt8>

    init(_ input: [UInt8]) {
        rest = input[...]
    }

    mutating func byte() -> Int { Int(rest.popFirst() ?? 0) }

    mutating func number() -> Int { byte() | byte() << 8 }
}

extension [UInt8] {
    /// With another bit at a place that is taken modulo the length; empty arrays stay as they are.
    func flippingBit(_ place: Int) -> [UInt8] {
        var bytes = self
        if !isEmpty { bytes[place / 8 % count] ^= 1 << UInt8(place % 8) }
        return bytes
    }
}
