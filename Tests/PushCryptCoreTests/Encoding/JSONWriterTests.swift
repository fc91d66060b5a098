import Testing

@testable import PushCryptCore

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
