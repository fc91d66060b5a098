import PushCryptTestSupport
import Testing

@testable import PushCryptCore

@Suite struct JSONErrorTests {
    @Test(
        "a text that ends too early is refused as truncated at its length",
        arguments: [
            ("", 0), (" \n", 2), ("[", 1), ("tru", 3), ("-", 1), ("1.", 2), ("1e", 2), ("1e+", 3), ("\"", 1),
            (#""\"#, 2), (#""\u12"#, 5), (#""\ud83d"#, 7), (#""\ud83d\"#, 8), (#""\ud83d\ude0"#, 12), (#"{"a""#, 4),
            (#"{"a":"#, 5), ("[1,", 3), (#"{"a":1,"#, 7),
        ])
    func truncated(text: String, offset: Int) {
        RefusedJSON(text, .truncated, at: offset).expectRefusal()
    }

    @Test(
        "a text outside the grammar is a syntax error at its offset",
        arguments: [
            // Brackets, commas and colons.
            ("}", 0), ("]", 0), (",", 0), ("[1,]", 3), ("[,1]", 1), ("[1,,2]", 3), ("[1 2]", 3), ("[1}", 2),
            ("[1:2]", 2), ("{]", 1), ("{1:2}", 1), ("{a:1}", 1), (#"{"a"}"#, 4), (#"{"a",1}"#, 4), (#"{"a":}"#, 5),
            (#"{"a":1,}"#, 7), (#"{"a":1]"#, 6), (#"{"a":1 "b":2}"#, 7), (#"{"a"::1}"#, 5), (#"{,"a":1}"#, 1),
            ("'a'", 0), ("/**/1", 0), ("[\u{C}1]", 1), ("[\u{B}1]", 1), ("[\u{A0}1]", 1), ("[\0]", 1),
            (" \u{FEFF}1", 1), ("[é]", 1),
            // Literals.
            ("True", 0), ("tRue", 1), ("[nul]", 4), ("falsch", 4), ("NaN", 0), ("Infinity", 0), ("-Infinity", 1),
            ("undefined", 0),
            // Numbers.
            ("01", 1), ("00", 1), ("-01", 2), ("[00.5]", 2), ("+1", 0), (".5", 0), ("-.5", 1), ("[1.]", 3), ("1.e5", 2),
            ("[1e]", 3), ("1e+-1", 3), ("[1e5.5]", 4), ("--1", 1), ("[- 1]", 2), ("[0x1]", 2), ("[1_0]", 2),
            ("[1e5e5]", 4), ("[\u{FF11}]", 1),
        ] as [(String, Int)])
    func syntax(text: String, offset: Int) {
        RefusedJSON(text, .syntax, at: offset).expectRefusal()
    }

    @Test(
        "bytes after the root value are refused at their offset",
        arguments: [
            ("{}{}", 2), ("{} x", 3), ("1 2", 2), ("{}\0", 2), ("[],", 2), ("\"\"\"", 2), ("[]]", 2), ("{}\u{FEFF}", 2),
            ("1\u{A0}", 1), ("[1]//", 3), ("truee", 4), ("1.5.2", 3),
        ])
    func trailingBytes(text: String, offset: Int) {
        RefusedJSON(text, .trailingBytes, at: offset).expectRefusal()
    }

    @Test(
        "a byte order mark at the start is refused",
        arguments: [
            RefusedJSON("\u{FEFF}", .byteOrderMark, at: 0), RefusedJSON("\u{FEFF}{}", .byteOrderMark, at: 0),
            RefusedJSON("\u{FEFF}\u{FEFF}{}", .byteOrderMark, at: 0),
            RefusedJSON([0xFE, 0xFF, 0x00, 0x31], .utf16, at: 0), RefusedJSON([0xFF, 0xFE, 0x31, 0x00], .utf16, at: 0),
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

@Suite struct JSONDuplicateNameTests {
    @Test(
        "two members with one name are refused at the second name",
        arguments: [
            (#"{"a":1,"a":1}"#, 7), (#"{"":1,"":2}"#, 6), (#"{"a":1,"\u0061":2}"#, 7), (#"{"\u0061":1,"a":2}"#, 12),
            (#"{"\u006a":1,"\u006A":2}"#, 12), (#"{"/":1,"\/":2}"#, 7), (#"{"\n":1,"\u000a":2}"#, 8),
            (#"{"é":1,"\u00e9":2}"#, 8), (#"{"😀":1,"\ud83d\ude00":2}"#, 10), (#"{"a":1,"b":2,"c":3,"b":4,"a":5}"#, 19),
            (#"{"x":{"a":1,"a":2}}"#, 12), (#"[0,{"a":1,"a":2}]"#, 10), (#"{"a":{"b":1},"a":2}"#, 13),
            (#"[[{"x":[{"a":[],"a":{}}]}]]"#, 16), (#"{"aps":1, "x":[{"y":{}}] , "aps" : 2}"#, 27),
        ])
    func refused(text: String, offset: Int) {
        RefusedJSON(text, .duplicateName, at: offset).expectRefusal()
    }

    @Test(
        "names that differ in any byte, or in different objects, are accepted",
        arguments: [
            #"{"a":1,"A":2}"#, #"{"a":1,"a ":2,"aa":3,"":4}"#, #"{"a":{"a":{"a":1}}}"#, #"[{"a":1},{"a":1}]"#,
            "{\"\u{E9}\":1,\"e\u{301}\":2}", #"{"a":1,"a\u0000":2}"#, #"{"\\u0061":1,"a":2}"#, #"{"a":"b","b":"a"}"#,
            #"{"ab":1,"ba":2}"#, "{\"\u{AC00}\":1,\"\u{1100}\u{1161}\":2}",
        ])
    func accepted(text: String) {
        #expect(throws: Never.self) { try JSONText(text: text) }
    }

    @Test(
        "a duplicate among few, many or escaped names is refused", arguments: [2, 3, 31, 32, 33, 34, 100, 5000],
        [false, true])
    func manyNames(count: Int, escaped: Bool) {
        let names = (0..<count).map { escaped ? "\\u006b\($0)" : "k\($0)" }
        #expect(throws: Never.self) { try JSONText(object(names)) }
        for (original, copy) in [(0, 1), (0, count - 1), (count - 2, count - 1)] {
            var repeated = names
            repeated[copy] = "k\(original)"
            let text = object(repeated)
            let offset = object(Array(repeated[..<copy])).count - (copy == 0 ? 0 : 1) + 1
            RefusedJSON(text, .duplicateName, at: offset).expectRefusal()
        }
    }

    private func object(_ names: [String]) -> [UInt8] {
        Array("{\(names.map { "\"\($0)\":0" }.joined(separator: ","))}".utf8)
    }
}
