import PushCryptTestSupport
import Testing

@testable import PushCryptCore

@Suite struct JSONErrorTests {
    @Test(
        "a text that ends too early is refused as truncated at its length",
        arguments: [
            RefusedJSON("", .truncated, at: 0), RefusedJSON(" \n", .truncated, at: 2),
            RefusedJSON("[", .truncated, at: 1),
            RefusedJSON("tru", .truncated, at: 3), RefusedJSON("-", .truncated, at: 1),
            RefusedJSON("1.", .truncated, at: 2), RefusedJSON("1e", .truncated, at: 2),
            RefusedJSON("1e+", .truncated, at: 3), RefusedJSON("\"", .truncated, at: 1),
            RefusedJSON(#""\"#, .truncated, at: 2), RefusedJSON(#""\u12"#, .truncated, at: 5),
            RefusedJSON(#""\ud83d"#, .truncated, at: 7), RefusedJSON(#""\ud83d\"#, .truncated, at: 8),
            RefusedJSON(#""\ud83d\ude0"#, .truncated, at: 12), RefusedJSON([0x22, 0xE2, 0x82], .truncated, at: 3),
            RefusedJSON(#"{"a""#, .truncated, at: 4), RefusedJSON(#"{"a":"#, .truncated, at: 5),
            RefusedJSON("[1,", .truncated, at: 3), RefusedJSON(#"{"a":1,"#, .truncated, at: 7),
        ])
    func truncated(text: RefusedJSON) { text.expectRefusal() }

    @Test(
        "a misplaced bracket, comma or colon is a syntax error at its offset",
        arguments: [
            RefusedJSON("}", .syntax, at: 0), RefusedJSON("]", .syntax, at: 0), RefusedJSON(",", .syntax, at: 0),
            RefusedJSON("[1,]", .syntax, at: 3), RefusedJSON("[,1]", .syntax, at: 1),
            RefusedJSON("[1,,2]", .syntax, at: 3),
            RefusedJSON("[1 2]", .syntax, at: 3), RefusedJSON("[1}", .syntax, at: 2),
            RefusedJSON("[1:2]", .syntax, at: 2),
            RefusedJSON("{]", .syntax, at: 1), RefusedJSON("{1:2}", .syntax, at: 1),
            RefusedJSON("{a:1}", .syntax, at: 1),
            RefusedJSON(#"{"a"}"#, .syntax, at: 4), RefusedJSON(#"{"a",1}"#, .syntax, at: 4),
            RefusedJSON(#"{"a":}"#, .syntax, at: 5), RefusedJSON(#"{"a":1,}"#, .syntax, at: 7),
            RefusedJSON(#"{"a":1]"#, .syntax, at: 6), RefusedJSON(#"{"a":1 "b":2}"#, .syntax, at: 7),
            RefusedJSON(#"{"a"::1}"#, .syntax, at: 5), RefusedJSON(#"{,"a":1}"#, .syntax, at: 1),
            RefusedJSON("'a'", .syntax, at: 0), RefusedJSON("[1]//", .trailingBytes, at: 3),
            RefusedJSON("/**/1", .syntax, at: 0), RefusedJSON("[\u{C}1]", .syntax, at: 1),
            RefusedJSON("[\u{B}1]", .syntax, at: 1), RefusedJSON("[\u{A0}1]", .syntax, at: 1),
            RefusedJSON("[\0]", .syntax, at: 1), RefusedJSON(" \u{FEFF}1", .syntax, at: 1),
            RefusedJSON("[é]", .syntax, at: 1),
        ])
    func structure(text: RefusedJSON) { text.expectRefusal() }

    @Test(
        "a misspelt literal is a syntax error at its offset",
        arguments: [
            RefusedJSON("True", .syntax, at: 0), RefusedJSON("tRue", .syntax, at: 1),
            RefusedJSON("[nul]", .syntax, at: 4),
            RefusedJSON("falsch", .syntax, at: 4), RefusedJSON("NaN", .syntax, at: 0),
            RefusedJSON("Infinity", .syntax, at: 0), RefusedJSON("-Infinity", .syntax, at: 1),
            RefusedJSON("undefined", .syntax, at: 0), RefusedJSON("truee", .trailingBytes, at: 4),
        ])
    func literals(text: RefusedJSON) { text.expectRefusal() }

    @Test(
        "a number outside the grammar is a syntax error at its offset",
        arguments: [
            RefusedJSON("01", .syntax, at: 1), RefusedJSON("00", .syntax, at: 1), RefusedJSON("-01", .syntax, at: 2),
            RefusedJSON("[00.5]", .syntax, at: 2), RefusedJSON("+1", .syntax, at: 0), RefusedJSON(".5", .syntax, at: 0),
            RefusedJSON("-.5", .syntax, at: 1), RefusedJSON("[1.]", .syntax, at: 3),
            RefusedJSON("1.e5", .syntax, at: 2),
            RefusedJSON("[1e]", .syntax, at: 3), RefusedJSON("1e+-1", .syntax, at: 3),
            RefusedJSON("[1e5.5]", .syntax, at: 4), RefusedJSON("--1", .syntax, at: 1),
            RefusedJSON("[- 1]", .syntax, at: 2), RefusedJSON("[0x1]", .syntax, at: 2),
            RefusedJSON("[1_0]", .syntax, at: 2), RefusedJSON("1.5.2", .trailingBytes, at: 3),
            RefusedJSON("[1e5e5]", .syntax, at: 4), RefusedJSON("[\u{FF11}]", .syntax, at: 1),
        ])
    func numbers(text: RefusedJSON) { text.expectRefusal() }

    @Test(
        "bytes after the root value are refused at their offset",
        arguments: [
            RefusedJSON("{}{}", .trailingBytes, at: 2), RefusedJSON("{} x", .trailingBytes, at: 3),
            RefusedJSON("1 2", .trailingBytes, at: 2), RefusedJSON("{}\0", .trailingBytes, at: 2),
            RefusedJSON("[],", .trailingBytes, at: 2), RefusedJSON("\"\"\"", .trailingBytes, at: 2),
            RefusedJSON("[]]", .trailingBytes, at: 2), RefusedJSON("{}\u{FEFF}", .trailingBytes, at: 2),
            RefusedJSON([0x7B, 0x7D, 0xFF], .trailingBytes, at: 2), RefusedJSON("1\u{A0}", .trailingBytes, at: 1),
        ])
    func trailingBytes(text: RefusedJSON) { text.expectRefusal() }

    @Test(
        "a byte order mark at the start is refused",
        arguments: [
            RefusedJSON("\u{FEFF}", .byteOrderMark, at: 0), RefusedJSON("\u{FEFF}{}", .byteOrderMark, at: 0),
            RefusedJSON("\u{FEFF}\u{FEFF}{}", .byteOrderMark, at: 0),
            RefusedJSON([0xFE, 0xFF, 0x00, 0x31], .utf16, at: 0),
            RefusedJSON([0xFF, 0xFE, 0x31, 0x00], .utf16, at: 0),
        ])
    func byteOrderMark(text: RefusedJSON) { text.expectRefusal() }

    @Test("containers above the depth limit are refused at their bracket")
    func depthOverTheLimit() {
        let limit = JSONText.maximumDepth
        RefusedJSON(String(repeating: "[", count: limit + 1), .tooDeep, at: limit).expectRefusal()
        RefusedJSON(String(repeating: #"{"a":"#, count: limit) + "{", .tooDeep, at: 5 * limit).expectRefusal()
        RefusedJSON(String(repeating: #"[{"a":"#, count: limit / 2) + "[]", .tooDeep, at: 3 * limit).expectRefusal()
        RefusedJSON(String(repeating: "[", count: 1_000_000), .tooDeep, at: limit).expectRefusal()
    }

    @Test(
        "a prefix of an object is truncated, and nothing but white space may follow an object",
        arguments: 0..<LongTests.value(20, short: 5))
    func everyPrefixIsTruncated(seed: UInt64) throws {
        var generator = JSONTestGenerator(seed: seed)
        let bytes = generator.object()
        let end = try JSONText(bytes).root.range.upperBound
        for count in (0..<end).sampled(every: 7) {
            RefusedJSON(Array(bytes[..<count]), .truncated, at: count).expectRefusal()
        }
        for byte in UInt8.min...UInt8.max where !" \t\r\n".utf8.contains(byte) {
            RefusedJSON(bytes + [byte], .trailingBytes, at: bytes.count).expectRefusal()
        }
    }

    @Test("the description of an error has code and offset and no content")
    func saysWhatAndWhereWithoutContent() {
        let error = #expect(throws: JSONError.self) { try JSONText(text: #"{"secret" "value"}"#) }
        #expect(error?.description == "JSON refused at byte 10: JSON doesn't allow this character here")
    }
}
