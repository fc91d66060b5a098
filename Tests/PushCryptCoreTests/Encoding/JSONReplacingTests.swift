import PushCryptTestSupport
import Testing

@testable import PushCryptCore

@Suite struct JSONReplacingTests {
    @Test(
        "replacing one value leaves the other bytes unchanged",
        arguments: [
            (#"{"a":1}"#, #"{"a":[0]}"#), (#" { "a" : "x" } "#, #" { "a" : [0] } "#),
            (#"{"b":{"a":2},"a":{"b":{}},"c":3}"#, #"{"b":{"a":2},"a":[0],"c":3}"#),
            (#"{"\u0061":null}"#, #"{"\u0061":[0]}"#),
        ])
    func oneValue(before: String, after: String) throws {
        let text = try JSONText(text: before)
        let value = try #require(text.root["a"])
        #expect(readable(text.replacing([(value, Array("[0]".utf8))])) == after)
    }

    @Test("replacing several values doesn't depend on their order")
    func severalValues() throws {
        let text = try JSONText(text: #"{"a": 1, "b": [2, {"c": "three"}], "d": 4}"#)
        let (a, c) = (try #require(text.root["a"]), try #require(text.root["b"]?.elements.map(\.self).last?["c"]))
        let expected = #"{"a": "one", "b": [2, {"c": 3}], "d": 4}"#
        let replacements = [(a, Array(#""one""#.utf8)), (c, Array("3".utf8))]
        #expect(readable(text.replacing(replacements)) == expected)
        #expect(readable(text.replacing(replacements.reversed())) == expected)
        #expect(text.replacing([]) == text.bytes)
        #expect(readable(text.replacing([(text.root, [])])) == "")
    }

    @Test("replacing any value of a generated document leaves the other bytes unchanged", arguments: 0..<20)
    func everyValueInTurn(seed: UInt64) throws {
        var generator = JSONTestGenerator(seed: seed)
        for _ in 0..<LongTests.value(10, short: 2) {
            let text = try JSONText(generator.document())
            for value in text.allValues {
                #expect(text.replacing([(value, Array(value.rawBytes))]) == text.bytes)
                let replaced = text.replacing([(value, Array("[]".utf8))])
                #expect(replaced.starts(with: text.bytes[..<value.range.lowerBound]))
                #expect(
                    replaced.suffix(text.bytes.count - value.range.upperBound) == text.bytes[value.range.upperBound...])
                #expect(replaced.count == text.bytes.count - value.range.count + 2)
                #expect(throws: Never.self) { try JSONText(replaced) }
            }
        }
    }
}
