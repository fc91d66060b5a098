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

    /// Spaces at the end can't be distinguished from padding.
    @Test("spaces at the end of raw JSON are removed like padding", arguments: [1, 2, 100])
    func spacesAtTheEnd(count: Int) throws {
        let json = #"{"aps":{"alert":"x"}}"#
        let push = try Channel.simple.seal(json + String(repeating: " ", count: count))
        #expect(try Reading(push, .simple).payload == json)
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
