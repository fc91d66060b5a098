import Testing

@testable import PushCryptCore

/// Refused content of strings and names.
@Suite struct JSONStringErrorTests {
    @Test("a control character in a string or name is a syntax error", arguments: [UInt8](0..<0x20))
    func controlCharacters(byte: UInt8) {
        RefusedJSON([0x22, 0x61, byte, 0x22], .syntax, at: 2).expectRefusal()
        RefusedJSON([0x7B, 0x22, byte, 0x22], .syntax, at: 2).expectRefusal()
    }

    @Test("every byte at every position of a long string is accepted or refused as the grammar says", arguments: 0..<36)
    func everyByteAnywhere(position: Int) throws {
        for byte in UInt8.min...UInt8.max {
            var bytes = [UInt8](repeating: UInt8(ascii: "a"), count: 38)
            (bytes[0], bytes[37], bytes[position + 1]) = (0x22, 0x22, byte)
            switch byte {
            case ..<0x20: RefusedJSON(bytes, .syntax, at: position + 1).expectRefusal()
            case 0x22: RefusedJSON(bytes, .trailingBytes, at: position + 2).expectRefusal()
            case 0x5C where position == 35: RefusedJSON(bytes, .truncated, at: 38).expectRefusal()
            case 0x5C: RefusedJSON(bytes, .syntax, at: position + 2).expectRefusal()
            case 0x80...: RefusedJSON(bytes, .invalidUTF8, at: position + 1).expectRefusal()
            default: #expect(try JSONText(bytes).root.range == 0..<38)
            }
        }
    }

    @Test("only the letters of the grammar are accepted after a backslash", arguments: UInt8.min...UInt8.max)
    func letterBehindBackslash(byte: UInt8) throws {
        let bytes: [UInt8] = [0x22, 0x5C, byte, 0x22, 0x22]
        switch byte {
        case UInt8(ascii: "u"): RefusedJSON(bytes, .syntax, at: 3).expectRefusal()
        case _ where #""\/bfnrt"#.utf8.contains(byte): RefusedJSON(bytes, .trailingBytes, at: 4).expectRefusal()
        case 0x80...: RefusedJSON(bytes, .invalidUTF8, at: 2).expectRefusal()
        default: RefusedJSON(bytes, .syntax, at: 2).expectRefusal()
        }
    }

    @Test(
        "a malformed escape is a syntax error at its offset",
        arguments: [
            (#""\u004""#, 6), (#""\u00g0""#, 5), (#""\u+041""#, 3), (#""\U0041""#, 2), (#""\u{41}""#, 3),
            (#""\x41""#, 2), (#""\é""#, 2), (#""\ud83d\uXXXX""#, 9), (#""\'""#, 2),
        ])
    func escapes(text: String, offset: Int) {
        RefusedJSON(text, .syntax, at: offset).expectRefusal()
    }

    @Test(
        "half of a surrogate pair is refused at its backslash",
        arguments: [
            (#""\ud800""#, 1), (#""\uDBFF""#, 1), (#""\udc00""#, 1), (#""\uDFFF""#, 1), (#""a\ud83dx""#, 2),
            (#""\ud83d\n""#, 1), (#""\ud83d\ud83d\ude00""#, 1), (#""\ud83d\u0041""#, 1), (#""\ude00\ud83d""#, 1),
            (#""\ud83d\ude00\ude00""#, 13), (#""\ud83d\ue000""#, 1), (#"{"\ud83d":1}"#, 2), ("\"\\ud83d\u{1F600}\"", 1),
            (#""\ude00\ude00""#, 1),
        ])
    func loneSurrogates(text: String, offset: Int) {
        RefusedJSON(text, .loneSurrogate, at: offset).expectRefusal()
    }

    @Test(
        "every start of a multibyte sequence is accepted only if Swift decodes it unchanged",
        arguments: UInt8(0x80)...UInt8.max)
    func firstByteOfUTF8(first: UInt8) throws {
        let tails: [[UInt8]] = [[], [0x41], [0x7F], [0x80], [0xBF], [0xC0]]
        for second in [0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xFF] as [UInt8] {
            for third in tails {
                // Only a first byte of E0 and above begins a sequence that can reach the fourth byte.
                for fourth in third.isEmpty || first < 0xE0 ? [[]] : tails {
                    expectSwiftsOpinion(of: [first, second] + third + fourth)
                }
            }
        }
    }

    private func expectSwiftsOpinion(of content: [UInt8]) {
        let isValid = Array(String(decoding: content, as: UTF8.self).utf8) == content
        let quoted = [0x22] + content + [0x22]
        do throws(JSONError) {
            let value = try JSONText(quoted).root
            #expect(isValid && value.utf8.map(Array.init) == content, "\(content)")
        } catch {
            #expect(!isValid && error.code == .invalidUTF8, "\(content)")
        }
    }

    @Test(
        "overlong, truncated and impossible sequences are refused at their first byte",
        arguments: [
            RefusedJSON([0x22, 0x61, 0x80, 0x22], .invalidUTF8, at: 2),  // continuation without a first byte
            RefusedJSON([0x22, 0xC0, 0x80, 0x22], .invalidUTF8, at: 1),  // overlong U+0000
            RefusedJSON([0x22, 0xC1, 0xBF, 0x22], .invalidUTF8, at: 1),  // overlong U+007F
            RefusedJSON([0x22, 0xC0, 0xA2, 0x22], .invalidUTF8, at: 1),  // overlong quotation mark
            RefusedJSON([0x22, 0xE0, 0x9F, 0xBF, 0x22], .invalidUTF8, at: 1),  // overlong U+07FF
            RefusedJSON([0x22, 0xF0, 0x8F, 0xBF, 0xBF, 0x22], .invalidUTF8, at: 1),  // overlong U+FFFF
            RefusedJSON([0x22, 0xED, 0xA0, 0x80, 0x22], .invalidUTF8, at: 1),  // surrogate U+D800
            RefusedJSON([0x22, 0xED, 0xBF, 0xBF, 0x22], .invalidUTF8, at: 1),  // surrogate U+DFFF
            RefusedJSON([0x22, 0xF4, 0x90, 0x80, 0x80, 0x22], .invalidUTF8, at: 1),  // U+110000
            RefusedJSON([0x22, 0xF5, 0x80, 0x80, 0x80, 0x22], .invalidUTF8, at: 1),
            RefusedJSON([0x22, 0xE2, 0x82, 0x22], .invalidUTF8, at: 1),  // cut short by the quote
            RefusedJSON([0x22, 0xC3, 0xA9, 0xC3, 0x22], .invalidUTF8, at: 3),
            RefusedJSON([0x7B, 0x22, 0xFF, 0x22, 0x3A, 0x31, 0x7D], .invalidUTF8, at: 2),  // in a name
            RefusedJSON([0x5B, 0xFF, 0x5D], .invalidUTF8, at: 1),  // outside of strings
            RefusedJSON([0xFF], .invalidUTF8, at: 0),
            RefusedJSON([0xC3], .syntax, at: 0),
            RefusedJSON([0x22, 0xE2, 0x82], .truncated, at: 3),
            RefusedJSON([0x7B, 0x7D, 0xFF], .trailingBytes, at: 2),
        ])
    func invalidUTF8(text: RefusedJSON) { text.expectRefusal() }
}
