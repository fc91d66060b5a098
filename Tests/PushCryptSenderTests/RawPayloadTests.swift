import Foundation
import PushCryptSender
import Testing

/// Raw JSON is sealed and opened byte for byte: open(seal(x)) == x.
@Suite struct RawPayloadTests {
    private static let payloads = [
        #"{"aps":{"alert":"x"}}"#,
        #"{"aps":{"alert":{"title":"a","subtitle":"b","body":"c"},"sound":{"critical":1,"name":"s","volume":0.10}}}"#,
        // Numbers that a parser would write another way, or couldn't hold.
        #"{"aps":{"alert":"x","badge":1.50},"n":[1.10,1e400,-1E-400,-0,-0.0,0.1e+1,9007199254740993]}"#,
        #"{"n":123456789012345678901234567890.12345678901234567890,"aps":{"alert":"x"}}"#,
        // Order, similar names, unknown members.
        #"{"z":1,"a":2,"aps":{"zz":null,"alert":"x","aa":[]},"A":3,"":4," ":5}"#,
        "{\"aps\":{\"alert\":\"x\"},\"\u{E9}\":6,\"e\u{301}\":7}",
        #"{"aps":{"alert":"x","future-member":{"deep":[[[[{}]]]]}},"pushcrypt ":true,"Pushcrypt":{}}"#,
        // White space, except spaces at the end.
        " { \"aps\" : { \"alert\" : \"x\" } , \"y\" : [ 1 , 2 ] } \n", "\r\n\t{\"aps\":{\"alert\":\"x\"}\t}\r\n",
        // Escapes.
        #"{"\u0061ps":{"al\u0065rt":"\u0041\/\b\f\n\r\t\"\\ \u00e9\ud83d\ude00"},"\u0000":"\u2028"}"#,
        "{\"aps\":{\"alert\":\"é e\u{301} 😀 \u{2028} \u{7F} \u{FEFF}\"},\"x\":\"/\"}",
        #"{"aps":{"alert":{"loc-key":"K","loc-args":["a","b"],"title-loc-key":"T"},"category":"c"},"e":{},"f":[]}"#,
    ]

    @Test("raw JSON is opened byte for byte as it was sealed", arguments: payloads, Channel.allOnBoth)
    func staysAsItIs(json: String, channel: Channel) throws {
        let reading = try Reading(channel.seal(json), channel)
        #expect(reading.payload == json)
    }

    @Test("the header contains the id and the times of the push", arguments: Channel.all)
    func header(channel: Channel) throws {
        let options = Sealer.Options(expiresAfter: .seconds(3_600))
        let push = try channel.seal(#"{"aps":{"alert":"x"}}"#, options)
        let header = try #require(try Reading(push, channel).inner.header(proof: .signature))
        #expect(header.issuedAt == Channel.now)
        #expect(header.expiresAt == Channel.now + 3_600)
        #expect(push.expiresAt == header.expiresAt)
        #expect(Data(header.id).count == 16)
        #expect(push.id.utf8.count == 22)
        #expect(Data(base64Encoded: Self.base64(push.id)) == Data(header.id))
    }

    /// The header is the last member.
    @Test("the sealed message is the payload with its header") func messageInFull() throws {
        let push = try Channel.simple.seal(#"{ "aps":{"alert":"x"} }"#, Sealer.Options(padding: .none))
        let expected =
            #"{ "aps":{"alert":"x"},"pushcrypt":{"id":"\#(push.id)","iat":1800000000,"exp":1802592000} }"#
        #expect(String(decoding: try Reading(push, .simple).message, as: UTF8.self) == expected)
    }

    private static func base64(_ text: String) -> String {
        text.replacing("-", with: "+").replacing("_", with: "/") + "=="
    }
}

@Suite struct UnicodeTests {
    private static let texts = [
        "👩‍👩‍👧‍👦🏳️‍🌈👍🏽", "שלום مرحبا \u{202E}rtl\u{202C}", "e\u{301}é가\u{1100}\u{1161}", "𝕏𐍈🀄\u{10FFFF}",
        "line\u{2028}separator\u{2029}", "a\u{0}b", "\u{1}\u{1F}\u{7F}\u{80}\u{9F}", "\"\\/", "\n\r\t",
        "\u{FFFD}\u{FFFE}\u{FFFF}", String(repeating: "🇺🇳", count: 20), " ", "\u{200B}", "ﬁ Å Ω K",
    ]

    @Test("a notification with Unicode text is opened unchanged", arguments: texts)
    func notification(text: String) throws {
        let channel = Channel.simple
        let push = try channel.sealer().seal(
            PushNotification(title: text, subtitle: "a", body: text, threadID: text, custom: [text: text]),
            to: channel.recipient(),
            placeholder: Channel.placeholder)
        let payload = try JSONSerialization.jsonObject(with: Data(Reading(push, channel).payload.utf8))
        let root = try #require(payload as? [String: Any])
        let aps = try #require(root["aps"] as? [String: Any])
        let alert = try #require(aps["alert"] as? [String: String])
        for found in [alert["title"], alert["body"], aps["thread-id"] as? String] {
            #expect(found.map { Array($0.utf8) } == Array(text.utf8))
        }
        #expect(root.keys.filter { $0 != "aps" }.map { Array($0.utf8) } == [Array(text.utf8)])
    }
}

/// `InnerPayloadTests` of the core and `RefusalVectorTests` have the payloads that are refused.
@Suite struct RefusedPayloadTests {
    @Test("a payload that isn't UTF-8 is refused") func otherEncodings() throws {
        let utf16 = try #require(#"{"aps":{"alert":"x"}}"#.data(using: .utf16))
        for payload in [Data(#"{"aps":{"alert":""#.utf8) + [0xff] + Data(#""}}"#.utf8), utf16] {
            expectSenderError(.invalidPayload) {
                try Channel.simple.sealer().seal(payload, to: Channel.simple.recipient())
            }
        }
    }

    @Test("a sealed push is refused as a payload") func sealedTwice() throws {
        let push = try Channel.simple.seal(#"{"aps":{"alert":"x"}}"#)
        expectSenderError(.invalidPayload) { try Channel.simple.seal(String(decoding: push.json, as: UTF8.self)) }
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
}
