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

    private func written(_ string: String) -> [UInt8] {
        var output: [UInt8] = []
        JSONWriter.appendString(string, to: &output)
        return output
    }
}
