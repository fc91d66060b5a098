import PushCryptTestSupport
import Testing

@testable import PushCryptCore

/// `BlobVectorTests` has the limits of length and values.
@Suite struct InnerPayloadTests {
    private static let header = MessageHeader(id: Array(0...15), issuedAt: UnixTime(1), expiresAt: UnixTime(2))

    @Test(
        "JSON that isn't an alert payload is refused as a flaw",
        arguments: [
            "[]", "1", "null", #""aps""#, "{}", #"{"aps":null}"#, #"{"aps":[]}"#, #"{"aps":"alert"}"#, #"{"aps":{}}"#,
            #"{"alert":"x"}"#, #"{"APS":{"alert":"x"}}"#, #"{"aps":{"content-available":1}}"#,
            #"{"x":{"aps":{"alert":"x"}}}"#,
        ])
    func noAlertPayload(text: String) {
        #expect(throws: InnerPayload.Flaw.self) { try InnerPayload(json: Array(text.utf8)) }
    }

    @Test(
        "JSON that isn't strict is refused as a JSON error",
        arguments: [
            "", " ", "{", #"{"aps":{"alert":"x"}"#, #"{"aps":{"alert":"x"}}x"#, #"{"aps":{"alert":"x","alert":"x"}}"#,
            #"{"aps":{"alert":"x"},"\u0061ps":1}"#, "\u{FEFF}{\"aps\":{\"alert\":\"x\"}}",
            #"{"aps":{"alert":"\ud800"}}"#, #"{'aps':{'alert':'x'}}"#,
        ])
    func notStrict(text: String) {
        #expect(throws: JSONError.self) { try InnerPayload(json: Array(text.utf8)) }
        #expect(throws: FailureClass.malformed) { try InnerPayload(message: Array(text.utf8)) }
    }

    @Test("names are not counted as values")
    func names() throws {
        let members = (0..<16_381).map { "\"\($0)\":0" }.joined(separator: ",")
        #expect(throws: Never.self) {
            try InnerPayload(json: Array(#"{"aps":{"alert":"x"},\#(members)}"#.utf8))
        }
        #expect(throws: InnerPayload.Flaw.self) {
            try InnerPayload(json: Array(#"{"aps":{"alert":"x"},"n":0,\#(members)}"#.utf8))
        }
    }

    @Test("the scan ends at the first value above the limit, before a later error")
    func scanEnds() {
        let text = Array(#"[1,{"a":2},?"#.utf8)
        let error = #expect(throws: JSONError.self) { try JSONText(text, maximumValueCount: 3) }
        #expect(error == JSONError(.tooManyValues, at: 8))
    }

    @Test(
        "adding and removing header and padding leaves all other bytes unchanged",
        arguments: [
            #"{"aps":{"alert":"x"}}"#, #" { "aps" : { "alert" : "x" } } "#, "{\n\t\"aps\":{\"alert\":\"x\"}\r\n}\n",
            #"{"x":1.10,"aps":{"alert":"\u00e9é\/"},"y":[1e400,-0.0,12345678901234567890],"x ":null}"#,
            #"{"aps":{"alert":"x"},"pushcrypt2":{}}"#,
        ])
    func roundTrip(text: String) throws {
        let inner = try InnerPayload(json: Array(text.utf8))
        let message = try inner.message(with: Self.header)
        for padding in [0, 1, 7, 500] {
            let read = try InnerPayload(message: message + [UInt8](repeating: paddingByte, count: padding))
            #expect(read.header(proof: .signature) == Self.header)
            #expect(String(decoding: read.withoutHeader, as: UTF8.self) == text.trimmingSpacesAtTheEnd)
        }
    }

    @Test(
        "a header at any place among the members is read and removed",
        arguments: [
            (#"{"pushcrypt":H,"aps":{"alert":"x"}}"#, #"{"aps":{"alert":"x"}}"#),
            (#"{"aps":{"alert":"x"} , "pushcrypt" : H , "z":1}"#, #"{"aps":{"alert":"x"} , "z":1}"#),
            (#"{"aps":{"alert":"x"},"pushcryp\u0074":H}"#, #"{"aps":{"alert":"x"}}"#),
        ])
    func headerAnywhere(text: String, left: String) throws {
        let header = #"{"id":"AAECAwQFBgcICQoLDA0ODw","iat":1,"exp":2}"#
        let read = try InnerPayload(message: Array(text.replacing("H", with: header).utf8))
        #expect(read.header(proof: .signature) == Self.header)
        #expect(String(decoding: read.withoutHeader, as: UTF8.self) == left)
    }

    @Test(
        "a payload that already has a pushcrypt member is refused",
        arguments: ["null", "{}", "1", #"{"id":"AAAAAAAAAAAAAAAAAAAAAA","iat":1,"exp":2}"#])
    func ownMember(value: String) throws {
        for name in ["pushcrypt", #"p\u0075shcrypt"#] {
            let inner = try InnerPayload(json: Array(#"{"aps":{"alert":"x"},"\#(name)":\#(value)}"#.utf8))
            #expect(throws: InnerPayload.Flaw.self) { try inner.message(with: Self.header) }
        }
    }

    @Test(
        "members with similar names are kept",
        arguments: ["pushcrypt ", "Pushcrypt", "push-crypt", "pushcryp", "\u{FF50}ushcrypt"])
    func otherMembers(name: String) throws {
        let inner = try InnerPayload(json: Array(#"{"aps":{"alert":"x"},"\#(name)":1}"#.utf8))
        #expect(inner.header(proof: .signature) == nil)
        #expect(try inner.message(with: Self.header).count > 0)
    }
}

extension String {
    /// Spaces after the end are the same as padding.
    fileprivate var trimmingSpacesAtTheEnd: String {
        String(self[..<(lastIndex { $0 != " " }.map { index(after: $0) } ?? startIndex)])
    }
}

@Suite struct OffloadedPayloadTests {
    private static func json(_ byteCount: Int) -> [UInt8] {
        let frame = #"{"aps":{"alert":""}}"#.utf8.count
        return Array(#"{"aps":{"alert":"\#(String(repeating: "a", count: byteCount - frame))"}}"#.utf8)
    }

    @Test(
        "a payload is padded with spaces to a multiple of 4 KiB",
        arguments: [
            (30, 4_096), (4_095, 4_096), (4_096, 4_096), (4_097, 8_192), (262_143, 262_144), (262_144, 262_144),
        ])
    func padded(count: Int, padded: Int) throws {
        let plaintext = try OffloadedPayload.plaintext(json: Self.json(count))
        #expect(plaintext.count == padded)
        #expect(plaintext[count...].allSatisfy { $0 == UInt8(ascii: " ") })
        let payload = try OffloadedPayload.innerPayload(plaintext: plaintext)
        #expect(payload.text.bytes == Self.json(count))
        #expect(payload.paddingByteCount == padded - count)
    }

    static let wrong = [
        "", " ", "{}", "x", #"{"aps":{}}"#, #"{"aps":{"alert":""}}"#, #"{"aps":{"alert":"x"},"pushcrypt":{}}"#,
        #"{"aps":{"alert":"x"},"pushcrypt":null}"#, #"{"aps":{"alert":"x"},"\u0070ushcrypt":1}"#,
        #"{"aps":{"alert":"x"}}x"#, #"{"aps":{"alert":"x"},"a":1,"a":1}"#, "[]",
    ]

    @Test("a payload that can't be sealed can't be offloaded", arguments: wrong)
    func refused(text: String) {
        #expect(throws: (any Error).self) { try OffloadedPayload.plaintext(json: Array(text.utf8)) }
        for padding in ["", "    "] {
            #expect(throws: FailureClass.malformed) {
                try OffloadedPayload.innerPayload(plaintext: Array((text + padding).utf8))
            }
        }
    }
}
