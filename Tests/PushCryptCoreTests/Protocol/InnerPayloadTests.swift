import PushCryptTestSupport
import Testing

@testable import PushCryptCore

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
            #"{"aps":{"alert":"\ud800"}}"#,
            #"{'aps':{'alert':'x'}}"#,
        ])
    func notStrict(text: String) {
        #expect(throws: JSONError.self) { try InnerPayload(json: Array(text.utf8)) }
        #expect(throws: FailureClass.malformed) { try InnerPayload(message: Array(text.utf8)) }
    }

    /// A payload with that number of values without names: four and the zeros.
    static func payload(values count: Int) -> [UInt8] {
        let zeros = Array(repeating: "0", count: count - 4).joined(separator: ",")
        return Array(#"{"aps":{"alert":"x"},"x":[\#(zeros)]}"#.utf8)
    }

    @Test("a payload of 16,384 values is read, and one of 16,385 refused by sealer and opener, with the limit")
    func values() throws {
        let largest = Self.payload(values: 16_384)
        #expect(try InnerPayload(json: largest).text.bytes == largest)
        let tooLarge = Self.payload(values: 16_385)
        let flaw = #expect(throws: InnerPayload.Flaw.self) { try InnerPayload(json: tooLarge) }
        #expect(flaw?.reason.contains("16384") == true)
        #expect(throws: FailureClass.malformed) { try InnerPayload(message: tooLarge) }
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

    @Test("the limit of the length is checked before parsing, without the padding", arguments: [262_144, 262_145])
    func length(count: Int) throws {
        let start = #"{"aps":{"alert":""#
        let json = Array((start + String(repeating: "a", count: count - start.utf8.count - 3) + "\"}}").utf8)
        let notJSON = [UInt8](repeating: 0xff, count: count)
        let spaces = [UInt8](repeating: paddingByte, count: 4_096)
        if count == 262_144 {
            #expect(try InnerPayload(message: json + spaces).text.bytes == json)
            #expect(throws: JSONError.self) { try InnerPayload(json: notJSON) }
        } else {
            #expect(throws: FailureClass.malformed) { try InnerPayload(message: json) }
            let flaw = #expect(throws: InnerPayload.Flaw.self) { try InnerPayload(json: notJSON) }
            #expect(flaw?.reason.contains("262144") == true)
        }
    }

    @Test("the scan ends at the first value above the limit, before a later error")
    func scanEnds() {
        let text = Array(#"[1,{"a":2},?"#.utf8)
        let error = #expect(throws: JSONError.self) { try JSONText(text, maximumValueCount: 3) }
        #expect(error == JSONError(.tooManyValues, at: 8))
    }

    @Test(
        "adding and removing the header leaves all other bytes unchanged",
        arguments: [
            #"{"aps":{"alert":"x"}}"#, #" { "aps" : { "alert" : "x" } } "#, "{\n\t\"aps\":{\"alert\":\"x\"}\r\n}\n",
            #"{"x":1.10,"aps":{"alert":"\u00e9é\/"},"y":[1e400,-0.0,12345678901234567890],"x ":null}"#,
            #"{"aps":{"alert":"x"},"pushcrypt2":{}}"#,
        ])
    func roundTrip(text: String) throws {
        let inner = try InnerPayload(json: Array(text.utf8))
        let message = try inner.message(with: Self.header)
        let read = try InnerPayload(message: message)
        #expect(read.header(proof: .signature) == Self.header)
        #expect(String(decoding: read.withoutHeader, as: UTF8.self) == text.trimmingSpacesAtTheEnd)
    }

    @Test("spaces after a message are removed", arguments: [0, 1, 7, 500])
    func paddingIsTakenOff(count: Int) throws {
        let text = #"{"aps":{"alert":"x"}}"#
        let message = try InnerPayload(json: Array(text.utf8)).message(with: Self.header)
        let read = try InnerPayload(message: message + [UInt8](repeating: paddingByte, count: count))
        #expect(read.header(proof: .signature) == Self.header)
        #expect(String(decoding: read.withoutHeader, as: UTF8.self) == text)
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

    @Test("a message of spaces alone is malformed", arguments: 0...3)
    func nothingButPadding(count: Int) {
        let message = [UInt8](repeating: paddingByte, count: count)
        #expect(throws: FailureClass.malformed) { try InnerPayload(message: message) }
    }
}

extension String {
    /// Spaces after the end are the same as padding.
    fileprivate var trimmingSpacesAtTheEnd: String {
        String(self[..<(lastIndex { $0 != " " }.map { index(after: $0) } ?? startIndex)])
    }
}
