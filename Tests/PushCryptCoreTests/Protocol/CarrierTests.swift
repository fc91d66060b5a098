import Testing

@testable import PushCryptCore

@Suite("carriers") struct CarrierTests {
    private static let kid = KeyID(thumbprint: [UInt8](repeating: 0, count: 32))
    private static let skid = KeyID(thumbprint: [UInt8](repeating: 0xff, count: 32))

    private static func frame(_ carrier: Carrier) -> OuterFrame {
        OuterFrame(placeholder: Array(#""x""#.utf8), exposed: [], kid: kid, skid: skid, carrier: carrier)
    }

    @Test(
        "the frame of each carrier has the documented JSON",
        arguments: [
            (Carrier.rebuilt, #""pushcrypt":{"v":1,"kid":"AAAAAAAAAAA","sealed":"AAEC","skid":"__________8"}}"#),
            (.text, #""pushcrypt":"{\"v\":1,\"kid\":\"AAAAAAAAAAA\",\"sealed\":\"AAEC\",\"skid\":\"__________8\"}"}"#),
            (.expo, #""body":{"pushcrypt":{"v":1,"kid":"AAAAAAAAAAA","sealed":"AAEC","skid":"__________8"}}}"#),
            (
                .oneSignal,
                #""custom":{"a":{"pushcrypt":{"v":1,"kid":"AAAAAAAAAAA","sealed":"AAEC","skid":"__________8"}}}}"#
            ),
        ])
    func frame(_ carrier: Carrier, _ end: String) throws {
        let payload = Self.frame(carrier).payload(sealed: [0, 1, 2])
        #expect(String(decoding: payload, as: UTF8.self) == #"{"aps":{"alert":"x","mutable-content":1},"# + end)
        #expect(Self.frame(carrier).byteCount == payload.count - 4)
        let read = try OuterPayload(JSONText(payload), at: EnvelopePlaces([carrier]))
        #expect(read.kid == Self.kid && read.skid == Self.skid && read.sealed == [0, 1, 2])
    }

    @Test(
        "only the declared carriers are read: the payload of another one is notSealed, or malformed beside aps",
        arguments: Carrier.allCases)
    func declared(_ carrier: Carrier) throws {
        let payload = try JSONText(Self.frame(carrier).payload(sealed: [0]))
        for other in Carrier.allCases {
            let failure: FailureClass? =
                if other.path != carrier.path { .notSealed } else if other.isText != carrier.isText { .malformed } else
                { nil }
            if let failure {
                #expect(throws: failure) { try OuterPayload(payload, at: EnvelopePlaces([other])) }
            } else {
                _ = try OuterPayload(payload, at: EnvelopePlaces([other]))
            }
            _ = try OuterPayload(payload, at: EnvelopePlaces([other, carrier]))
        }
    }

    private static let envelope = #"{"v":1,"kid":"AAAAAAAAAAA","sealed":"AAEC"}"#
    private static let alert = #""aps":{"alert":"x","mutable-content":1}"#

    @Test("two envelopes at declared places are malformed, and one elsewhere is ignored")
    func two() throws {
        let payload = try JSONText(
            text: #"{\#(Self.alert),"pushcrypt":\#(Self.envelope),"body":{"pushcrypt":\#(Self.envelope)}}"#)
        #expect(throws: FailureClass.malformed) { try OuterPayload(payload, at: EnvelopePlaces([.apns, .expo])) }
        for carrier in [Carrier.apns, .expo] { _ = try OuterPayload(payload, at: EnvelopePlaces([carrier])) }
        #expect(throws: FailureClass.notSealed) { try OuterPayload(payload, at: EnvelopePlaces([.oneSignal])) }
    }

    @Test(
        "the text of an envelope is strict JSON of an object, and nothing but it",
        arguments: [
            (#"\u007b\"v\":1,\"kid\":\"AAAAAAAAAAA\",\"sealed\":\"AAEC\"}"#, true),
            (#"{\"v\":1,\"kid\":\"AAAAAAAAAAA\",\"sealed\":\"AAEC\"}x"#, false),
            (#"{\"v\":1,\"v\":1,\"kid\":\"AAAAAAAAAAA\",\"sealed\":\"AAEC\"}"#, false),
            (#"[]"#, false), (#"\"{}\""#, false), ("", false), (#"{\"v\":1,\"kid\":\"AAAAAAAAAAA\"}"#, false),
        ])
    func text(_ text: String, _ isRead: Bool) throws {
        let payload = try JSONText(text: #"{\#(Self.alert),"pushcrypt":"\#(text)"}"#)
        if isRead {
            #expect(try OuterPayload(payload, at: EnvelopePlaces([.text])).sealed == [0, 1, 2])
        } else {
            #expect(throws: FailureClass.malformed) { try OuterPayload(payload, at: EnvelopePlaces([.text])) }
        }
    }
}
