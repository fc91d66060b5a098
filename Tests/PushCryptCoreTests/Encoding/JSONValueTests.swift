import Testing

@testable import PushCryptCore

@Suite struct JSONValueTests {
    @Test(
        "a string is read without its quotes and escapes",
        arguments: [
            (#""""#, ""), (#""plain""#, "plain"), (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"),
            (#""\u0041\u00e9\u00E9\u20AC""#, "Aéé€"), (#""\u0000\u001f\u007f""#, "\0\u{1F}\u{7F}"),
            (#""a\u0062c\\u0064""#, #"abc\u0064"#), (#""\ud83d\ude00""#, "😀"),
            (#""\uD800\uDC00\uDBFF\uDFFF""#, "\u{10000}\u{10FFFF}"), ("\"é€😀\u{7F}\u{FEFF}\"", "é€😀\u{7F}\u{FEFF}"),
            (#""\uFFFE\uFFFF\uD7FF\uE000""#, "\u{FFFE}\u{FFFF}\u{D7FF}\u{E000}"),
        ])
    func strings(text: String, expected: String) throws {
        let value = try JSONText(text: text).root
        #expect(value.utf8.map(Array.init) == Array(expected.utf8))
        #expect(value.string.map { Array($0.utf8) } == Array(expected.utf8))
    }

    @Test("the bytes of a string without escapes are a slice of the text")
    func plainStringsAreSlices() throws {
        let value = try #require(try JSONText(text: #"{"k":"abc"}"#).root["k"])
        #expect(value.utf8?.indices == 6..<9)
    }

    @Test("an escaped code unit is read as its character, in both cases of hexadecimal digits")
    func codeUnits() throws {
        for unit in stride(from: 0, through: 0xFFFF, by: 13) {
            guard let scalar = Unicode.Scalar(UInt16(unit)) else { continue }
            for uppercase in [true, false] {
                let digits = String(unit, radix: 16, uppercase: uppercase)
                let text = "\"\\u" + String(repeating: "0", count: 4 - digits.count) + digits + "\""
                #expect(try JSONText(text: text).root.string?.unicodeScalars.elementsEqual([scalar]) == true)
            }
        }
    }

    @Test(
        "an integer from 0 to 2^53-1 is read as a protocol integer",
        arguments: [
            ("0", 0), ("7", 7), ("10", 10), ("1700000000", 1_700_000_000), ("9007199254740991", 9_007_199_254_740_991),
        ])
    func protocolIntegers(text: String, expected: Int64) throws {
        #expect(try JSONText(text: text).root.protocolInteger == expected)
    }

    @Test(
        "a sign, fraction, exponent or larger number isn't a protocol integer",
        arguments: [
            "9007199254740992", "9999999999999999", "10000000000000000", "18446744073709551617", "-0", "-1", "1.0",
            "1.5", "0.0", "1e3", "1E0", "0e0", "1e-0", "true", "false", "null", "\"1\"", "[1]", "{\"1\":1}",
        ])
    func notProtocolIntegers(text: String) throws {
        #expect(try JSONText(text: text).root.protocolInteger == nil)
    }

    @Test(
        "a number is read as the nearest double",
        arguments: [
            ("0", 0.0), ("1", 1), ("-1.5", -1.5), ("0.1", 0.1), ("1e23", 1e23), ("8.5e22", 8.5e22), ("1E+2", 100),
            ("1e-7", 1e-7), ("9007199254740993", 9_007_199_254_740_992),
            ("9007199254740993.0000000000000001", 9_007_199_254_740_994),
            ("2.2250738585072011e-308", .leastNormalMagnitude.nextDown),
            ("2.2250738585072014e-308", .leastNormalMagnitude), ("5e-324", .leastNonzeroMagnitude),
            ("2.4703282292062328e-324", .leastNonzeroMagnitude), ("2.4703282292062327e-324", 0), ("1e-400", 0),
            ("1.7976931348623157e308", .greatestFiniteMagnitude), ("1.7976931348623158e308", .greatestFiniteMagnitude),
            ("0.500000000000000166533453693773481063544750213623046875", 0x1.0000000000002p-1),
        ])
    func doubles(text: String, expected: Double) throws {
        #expect(try JSONText(text: text).root.double == expected)
    }

    @Test("minus zero is read as a double with its sign")
    func minusZero() throws {
        #expect(try JSONText(text: "-0").root.double?.sign == .minus)
        #expect(try JSONText(text: "0").root.double?.sign == .plus)
    }

    @Test(
        "a number above the range of Double, or another kind of value, isn't a double",
        arguments: ["1.7976931348623159e308", "-1e309", "1e99999", "\"1\"", "true", "null", "[]"])
    func notDoubles(text: String) throws {
        #expect(try JSONText(text: text).root.double == nil)
    }

    @Test("a value of one kind isn't read as another kind", arguments: ["null", "true", "1", "\"true\"", "[]", "{}"])
    func nothingIsConverted(text: String) throws {
        let value = try JSONText(text: text).root
        #expect((value.boolean != nil) == (value.kind == .boolean))
        #expect((value.string != nil) == (value.kind == .string))
        #expect((value.utf8 != nil) == (value.kind == .string))
        #expect((value.double != nil) == (value.kind == .number))
        #expect((value.protocolInteger != nil) == (value.kind == .number))
    }

    @Test("true and false are read as booleans")
    func booleans() throws {
        #expect(try JSONText(text: "true").root.boolean == true)
        #expect(try JSONText(text: "false").root.boolean == false)
    }
}

@Suite struct JSONWriterTests {
    @Test(
        "only quotes, backslashes and control characters are escaped",
        arguments: [
            ("", #""""#), ("plain", #""plain""#), ("\"", #""\"""#), ("\\", #""\\""#), ("a/b", #""a/b""#),
            ("</script>", #""</script>""#), ("\u{8}\u{C}\n\r\t", #""\b\f\n\r\t""#),
            ("\0\u{1}\u{B}\u{E}\u{1F}", #""\u0000\u0001\u000b\u000e\u001f""#),
            ("\u{7F}\u{80}\u{2028}\u{FEFF}", "\"\u{7F}\u{80}\u{2028}\u{FEFF}\""), ("é€😀", "\"é€😀\""),
            ("a\"b\nc", #""a\"b\nc""#),
        ])
    func escapesOnlyWhatMustBe(string: String, expected: String) {
        #expect(written(string) == Array(expected.utf8))
    }

    @Test("a written random string is read again as the same string", arguments: 0..<20)
    func readsBackTheSame(seed: UInt64) throws {
        var generator = JSONTestGenerator(seed: seed)
        for _ in 0..<100 {
            let string = generator.string()
            let bytes = written(string)
            #expect(try JSONText(bytes).root.utf8.map(Array.init) == Array(string.utf8))
        }
    }

    @Test("strings and slices of bytes are appended to the bytes of the output")
    func appends() {
        let whole = "ab\"cd\n"
        var output: [UInt8] = Array("\"k\\\n\":".utf8)
        JSONWriter.appendString(whole, to: &output)
        JSONWriter.appendString(utf8: Array(whole.utf8)[2...], to: &output)
        #expect(String(decoding: output, as: UTF8.self) == "\"k\\\n\":\"ab\\\"cd\\n\"\"\\\"cd\\n\"")
    }

    @Test(
        "a JSON text for people has its control and format characters and line separators as escapes, and means the same",
        arguments: [
            ("\u{9B}31m", #"\u009b31m"#), ("\u{202E}cod", #"\u202ecod"#), ("a\u{2066}b", #"a\u2066b"#),
            ("\u{E0041}", #"\udb40\udc41"#), ("\u{7F}", #"\u007f"#), ("\u{FEFF}", #"\ufeff"#), ("é😀", "é😀"),
            ("e\u{301}\u{2028}", "e\u{301}\\u2028"), ("a\u{2029}", "a\\u2029"), ("plain", "plain"),
        ])
    func escapesForPeople(string: String, expected: String) throws {
        let json = "{\n  \"\(string)\" : [\"\(string)\"]\n}\n"
        let escaped = JSONWriter.escapingInvisible(Array(json.utf8))
        #expect(escaped == Array("{\n  \"\(expected)\" : [\"\(expected)\"]\n}\n".utf8))
        let member = try #require(try JSONText(escaped).root.members.first)
        #expect(member.hasName(string) && member.value.elements.first?.isString(string) == true)
    }

    private func written(_ string: String) -> [UInt8] {
        var output: [UInt8] = []
        JSONWriter.appendString(string, to: &output)
        return output
    }
}
