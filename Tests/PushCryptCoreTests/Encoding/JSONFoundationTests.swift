import PushCryptTestSupport
import Testing

@testable import PushCryptCore

/// Foundation reads the same meaning from every text that the scanner accepts, except for named differences.
@Suite struct JSONFoundationTests {
    @Test(
        "a selected text has the same meaning as for Foundation",
        arguments: [
            "null", "true", "false", "0", "-0", "-1", "10", "0.5", "-0.0", "1e5", "1E+5", "1e-5", "1.25e2", "0e0",
            "-0e-0",
            "9007199254740991", "9007199254740993", "9223372036854775807", "-9223372036854775808",
            "18446744073709551615",
            "18446744073709551616", "0.1", "5e-324", "1e-400", "1.7976931348623157e308", "2.2250738585072011e-308",
            #""""#, #""a""#, #""\"\\\/\b\f\n\r\t""#, #""\u0000""#, #""\u001F""#, #""\u00e9\u00E9é""#, "\"e\u{301}\"",
            #""\ud83d\ude00😀""#, #""\uDBFF\uDFFF""#, #""\uFFFF""#, "\"\u{7F}\u{80}\u{7FF}\u{800}\u{FFFF}\u{10000}\"",
            "[]", "[ ]", "[0]", "[ 1 , 2 ]", "[[],{}]", "[null,true,\"\",{\"a\":[1]}]", "{}", "{ }", "{\"\":0}",
            "{\"a\":1,\"b\":2}", " { \"a\" : { \"b\" : [ ] } } ", "\t\r\n[\r\n]\n", #"{"\u0061":1,"A":2}"#,
            #"{"aps":{"alert":{"title":"T","body":"B\n"},"badge":0,"mutable-content":1},"relevance":0.25}"#,
        ])
    func handPicked(text: String) throws {
        let theirs = try #require(foundationValue(Array(text.utf8)))
        #expect(difference(try JSONText(text: text).root, theirs) == nil)
    }

    @Test(
        "the comparison with Foundation reports texts with different meanings",
        arguments: [
            ("1", "2"), ("1", "1.5"), ("1", "true"), ("true", "1"), ("true", "false"), ("null", "0"), ("null", "\"\""),
            ("\"a\"", "\"b\""), ("\"é\"", "\"e\u{301}\""), ("\"1\"", "1"), ("[1]", "[1,2]"), ("[1]", "[2]"),
            ("{}", "[]"), ("{\"a\":1}", "{\"a\":2}"), ("{\"a\":1}", "{\"b\":1}"), ("{\"a\":1}", "{\"a\":1,\"b\":1}"),
            ("[[0,{\"a\":[null]}]]", "[[0,{\"a\":[false]}]]"), ("1e20", "100000000000000000001000000"),
        ])
    func comparisonSeesDifferences(ours: String, theirs: String) throws {
        let other = try #require(foundationValue(Array(theirs.utf8)))
        #expect(difference(try JSONText(text: ours).root, other) != nil)
    }

    @Test("a generated document has the same meaning as for Foundation", arguments: 0..<40)
    func generatedDocuments(seed: UInt64) throws {
        var generator = JSONTestGenerator(seed: seed)
        for _ in 0..<LongTests.value(100, short: 30) {
            let bytes = generator.document()
            let ours = try JSONText(bytes).root
            let theirs = try #require(foundationValue(bytes), "\(readable(bytes))")
            #expect(difference(ours, theirs) == nil, "\(readable(bytes))")
        }
    }

    @Test("a mutated document is accepted as by Foundation or refused by a stricter rule", arguments: 1000..<1040)
    func mutatedDocuments(seed: UInt64) {
        var generator = JSONTestGenerator(seed: seed)
        var accepted = 0
        var refused = 0
        for _ in 0..<LongTests.value(30, short: 10) {
            let document = generator.document()
            for _ in 0..<15 {
                let bytes = generator.mutation(of: document)
                let theirs = foundationValue(bytes)
                do throws(JSONError) {
                    expectSameMeaning(try JSONText(bytes), theirs)
                    accepted += 1
                } catch {
                    refused += 1
                    let isExplained = theirs == nil || isStricterThanFoundation(error, in: bytes)
                    #expect(isExplained, "\(error) \(readable(bytes))")
                }
            }
        }
        #expect(accepted > 10)
        #expect(refused > 10)
    }

    /// Foundation refuses only a number outside the range of `Double`.
    private func expectSameMeaning(_ ours: JSONText, _ theirs: Any?) {
        if let theirs {
            #expect(difference(ours.root, theirs) == nil, "\(readable(ours.bytes))")
        } else {
            let hasHugeNumber = ours.allValues.contains { $0.kind == .number && $0.double == nil }
            #expect(hasHugeNumber, "\(readable(ours.bytes))")
        }
    }
}

/// Whether Foundation accepts what the scanner refuses. `JSONFoundationDifferenceTests` has a test of each difference.
private func isStricterThanFoundation(_ error: JSONError, in bytes: [UInt8]) -> Bool {
    switch error.code {
    case .duplicateName, .byteOrderMark, .tooDeep: true
    case .syntax where isTrailingComma(at: error.byteOffset, in: bytes): true
    default: looksLikeUTF16(bytes)
    }
}

/// Foundation detects the encoding from zero bytes among the first four.
private func looksLikeUTF16(_ bytes: [UInt8]) -> Bool {
    bytes.prefix(4).contains(0)
}

/// Whether this is `[1,]` or `{"a":1,}`, which RFC 8259 forbids.
private func isTrailingComma(at offset: Int, in bytes: [UInt8]) -> Bool {
    guard bytes[offset] == UInt8(ascii: "]") || bytes[offset] == UInt8(ascii: "}") else { return false }
    return bytes[..<offset].last { !" \t\r\n".utf8.contains($0) } == UInt8(ascii: ",")
}
