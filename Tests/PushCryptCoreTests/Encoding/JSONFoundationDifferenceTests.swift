import Testing

@testable import PushCryptCore

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
