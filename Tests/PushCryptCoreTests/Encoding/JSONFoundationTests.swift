import Foundation
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

/// Every known difference between the scanner and Foundation, by name.
@Suite struct JSONFoundationDifferenceTests {
    @Test(
        "a text that Foundation accepts and the protocol forbids is refused",
        arguments: [
            RefusedJSON(#"{"a":1,"a":2}"#, .duplicateName, at: 7),
            RefusedJSON("\u{FEFF}{}", .byteOrderMark, at: 0),
            RefusedJSON(String(repeating: "[", count: 65) + String(repeating: "]", count: 65), .tooDeep, at: 64),
        ])
    func stricterThanFoundation(text: RefusedJSON) {
        #expect(foundationValue(text.bytes) != nil)
        text.expectRefusal()
    }

    @Test("a number above the range of Double is accepted")
    func numberBeyondDoubleIsStillJSON() throws {
        #expect(foundationValue(Array("1e400".utf8)) == nil)
        #expect(try JSONText(text: "1e400").root.double == nil)
    }

    @Test("canonically equal names with different bytes are two members")
    func namesThatAreCanonicallyEqualAreTwoMembers() throws {
        let text = "{\"\u{E9}\":1,\"e\u{301}\":2}"
        #expect((foundationValue(Array(text.utf8)) as? [String: Any])?.count == 1)
        let root = try JSONText(text: text).root
        #expect(root["\u{E9}"]?.protocolInteger == 1)
        #expect(root["e\u{301}"]?.protocolInteger == 2)
    }

    /// These differences are known only of Foundation on Linux.
    #if !canImport(Darwin)
    @Test(
        "a trailing comma is refused although Foundation accepts it",
        arguments: [RefusedJSON("[1,]", .syntax, at: 3), RefusedJSON(#"{"a":1, }"#, .syntax, at: 8)])
    func trailingComma(text: RefusedJSON) {
        #expect(foundationValue(text.bytes) != nil)
        text.expectRefusal()
    }

    @Test("U+FEFF in a string is kept as a character")
    func zeroWidthNoBreakSpaceIsACharacter() throws {
        let text = "\"\u{FEFF}a\""
        #expect((foundationValue(Array(text.utf8)) as? String)?.unicodeScalars.count == 1)
        #expect(try JSONText(text: text).root.string?.unicodeScalars.count == 2)
    }

    @Test(
        "UTF-16 and UTF-32 texts are refused although Foundation accepts them",
        arguments: [
            RefusedJSON([0x5B, 0x00, 0x5D, 0x00], .utf16, at: 0),
            RefusedJSON([0x00, 0x5B, 0x00, 0x5D], .utf16, at: 0),
            RefusedJSON([0x30, 0x00], .trailingBytes, at: 1),
        ])
    func otherEncodings(text: RefusedJSON) throws {
        #expect(foundationValue(text.bytes) != nil)
        text.expectRefusal()
    }
    #endif
}

/// The value that Foundation reads from the bytes; nil if it refuses them.
private func foundationValue(_ bytes: [UInt8]) -> Any? {
    try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)
}

/// The path of the first difference between two values; nil if they have the same meaning.
private func difference(_ ours: JSONValue, _ theirs: Any, path: String = "$") -> String? {
    switch ours.kind {
    case .null: return theirs is NSNull ? nil : path
    case .boolean: return isBoolean(theirs) && theirs as? Bool == ours.boolean ? nil : path
    case .number: return isSameNumber(ours, theirs) ? nil : path
    case .string: return isSameString(ours, theirs) ? nil : path
    case .array:
        let elements = Array(ours.elements)
        guard let theirs = theirs as? [Any], theirs.count == elements.count else { return path }
        for (index, element) in elements.enumerated() {
            if let found = difference(element, theirs[index], path: "\(path)[\(index)]") { return found }
        }
        return nil
    case .object:
        return objectDifference(ours, theirs, path: path)
    }
}

/// Foundation's dictionary can't contain two canonically equal names. Objects with such names aren't compared.
private func objectDifference(_ ours: JSONValue, _ theirs: Any, path: String) -> String? {
    let names = ours.members.map(\.name)
    guard let theirs = theirs as? [String: Any], theirs.count == Set(names).count else { return path }
    guard theirs.count == names.count else { return nil }
    for member in ours.members {
        let memberPath = "\(path).\(member.name)"
        guard let value = theirs[member.name] else { return memberPath }
        if let found = difference(member.value, value, path: memberPath) { return found }
    }
    return nil
}

/// Foundation on Linux loses U+FEFF at the start of a string and after an escape.
private func isSameString(_ ours: JSONValue, _ theirs: Any) -> Bool {
    guard let own = ours.string, let utf8 = ours.utf8, let theirs = theirs as? String else { return false }
    guard Array(own.utf8) == Array(utf8) else { return false }
    if Array(theirs.utf8) == Array(utf8) { return true }
    func withoutMark(_ string: String) -> [Unicode.Scalar] { string.unicodeScalars.filter { $0 != "\u{FEFF}" } }
    return own.unicodeScalars.contains("\u{FEFF}") && withoutMark(own) == withoutMark(theirs)
}

private func isSameNumber(_ ours: JSONValue, _ theirs: Any) -> Bool {
    guard let number = theirs as? NSNumber, !isBoolean(number), let double = ours.double else { return false }
    // For tokens of many digits, whose decimal value Foundation rounds to a double twice.
    guard !(number is NSDecimalNumber) else { return Double(number.stringValue) == double }
    if let integer = ours.protocolInteger, number.int64Value != integer { return false }
    return number.doubleValue == double
}

/// A boolean and the number 1 are the same class otherwise, and each casts to the other.
private func isBoolean(_ value: Any) -> Bool {
    String(describing: type(of: value)) == "__NSCFBoolean"
}
