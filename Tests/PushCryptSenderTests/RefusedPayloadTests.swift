import Foundation
import PushCryptSender
import Testing

@Suite struct RefusedPayloadTests {
    @Test(
        "a payload that isn't strict JSON or has no alert text is refused",
        arguments: [
            "", " ", "{", "null", "[]", "1", #""x""#, #"[{"aps":{"alert":"x"}}]"#, "{}", #"{"aps":null}"#,
            #"{"aps":[]}"#,
            #"{"aps":{}}"#, #"{"aps":{"content-available":1}}"#, #"{"aps":{"badge":1,"sound":"x"}}"#,
            #"{"aps":{"alert":""}}"#, #"{"aps":{"alert":null}}"#, #"{"aps":{"alert":{}}}"#, #"{"aps":{"alert":[]}}"#,
            #"{"aps":{"alert":{"title":""}}}"#, #"{"aps":{"alert":{"body":""}}}"#, #"{"aps":{"alert":{"title":1}}}"#,
            #"{"aps":{"alert":{"title":"","subtitle":"","body":"","loc-key":"","title-loc-key":""}}}"#,
            #"{"alert":{"title":"x"}}"#, #"{"aps":{"alert":"x"}}}"#, #"{"aps":{"alert":"x"}} x"#,
            #"{"aps":{"alert":"x"},}"#,
            #"{"aps":{"alert":"x"}"#, #"{"aps":{"alert":"x","alert":"y"}}"#, #"{"aps":{"alert":"x"},"aps":{}}"#,
            #"{"aps":{"alert":"x"},"\u0061ps":{}}"#, #"{"aps":{"alert":"x"},"y":[{"b":1,"b":1}]}"#,
            #"{"aps":{"alert":"\ud800"}}"#, #"{"aps":{"alert":"x"},"n":01}"#, #"{"aps":{"alert":"x"},"n":NaN}"#,
            "\u{FEFF}{\"aps\":{\"alert\":\"x\"}}", "{\"aps\":{\"alert\":\"x\ny\"}}", "{\"aps\":{\"alert\":\"x\u{0}\"}}",
            "{'aps':{'alert':'x'}}", "{\"aps\":{\"alert\":\"x\"}}\0", #"{"aps":{"alert":"x"}}// done"#,
        ])
    func refused(json: String) {
        expectSenderError(.invalidPayload, "\(json)") { try Channel.simple.seal(json) }
    }

    @Test(
        "a payload that isn't UTF-8 is refused",
        arguments: [[0xff], [0xc3, 0x28], [0xed, 0xa0, 0x80], [0xf8, 0x88, 0x80, 0x80, 0x80], [0xc0, 0xaf]] as [[UInt8]]
    )
    func notUTF8(bytes: [UInt8]) {
        let json = Array(#"{"aps":{"alert":""#.utf8) + bytes + Array(#""}}"#.utf8)
        expectSenderError(.invalidPayload) {
            try Channel.simple.sealer().seal(
                json, to: Channel.simple.recipient(), placeholder: Channel.placeholder)
        }
    }

    @Test("a payload in UTF-16 is refused") func utf16() throws {
        let json = try #require(#"{"aps":{"alert":"x"}}"#.data(using: .utf16))
        expectSenderError(.invalidPayload) {
            try Channel.simple.sealer().seal(
                json, to: Channel.simple.recipient(), placeholder: Channel.placeholder)
        }
    }

    @Test(
        "a payload with a pushcrypt member is refused",
        arguments: ["null", "{}", "1", #"{"id":"AAAAAAAAAAAAAAAAAAAAAA","iat":1800000000,"exp":1800000001}"#])
    func sealedBefore(member: String) {
        for name in ["pushcrypt", #"pushcryp\u0074"#] {
            expectSenderError(.invalidPayload) {
                try Channel.simple.seal(#"{"aps":{"alert":"x"},"\#(name)":\#(member)}"#)
            }
        }
    }

    @Test("a sealed push is refused as a payload") func sealedTwice() throws {
        let push = try Channel.simple.seal(#"{"aps":{"alert":"x"}}"#)
        expectSenderError(.invalidPayload) { try Channel.simple.seal(String(decoding: push.json, as: UTF8.self)) }
    }

    @Test("a payload of up to 64 nested levels is sealed, and a deeper one is refused", arguments: [62, 63])
    func depth(nested: Int) throws {
        let arrays = String(repeating: "[", count: nested) + String(repeating: "]", count: nested)
        let push = try Channel.simple.seal(#"{"aps":{"alert":"x"},"y":\#(arrays)}"#)
        #expect(push.byteCount <= 4_096)
        expectSenderError(.invalidPayload) { try Channel.simple.seal(#"{"aps":{"alert":"x"},"y":[[\#(arrays)]]}"#) }
    }

    /// An error names the fault and its place, and quotes nothing of the payload.
    @Test(
        "an error contains nothing of the payload",
        arguments: [
            #"{"aps":{"alert":"SECRET"},"SECRET":1,"SECRET":2}"#, #"{"aps":{"alert":"SECRET\ud800"}}"#,
            #"{"aps":{"badge":"SECRET"}}"#, #"{"aps":{"alert":"SECRET"},"pushcrypt":"SECRET"}"#, "SECRET",
            #"{"aps":{"alert":"\#(String(repeating: "SECRET", count: 1_000))"}}"#,
        ])
    func errorsHoldNothing(json: String) {
        let error = #expect(throws: SenderError.self) { try Channel.simple.seal(json) }
        var text = error.map { "\($0) \(String(reflecting: $0))" } ?? ""
        dump(error, to: &text)
        #expect(!text.contains("SECRET"))
        #expect(error?.reason.isEmpty == false)
    }

    @Test("an alert with one empty and one other text is sealed") func emptyParts() throws {
        for alert in [#"{"title":"T","body":""}"#, #"{"title":"","body":"B"}"#, #"{"subtitle":"S","title":""}"#] {
            let json = #"{"aps":{"alert":\#(alert)}}"#
            #expect(try Reading(Channel.simple.seal(json), .simple).payload == json)
        }
    }
}
