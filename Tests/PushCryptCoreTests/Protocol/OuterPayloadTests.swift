import Testing

@testable import PushCryptCore

/// `EnvelopeVectorTests` of the opener has the refusals of each member.
@Suite struct OuterPayloadTests {
    private static func json(_ envelope: String) -> String {
        #"{"aps":{"alert":"New message","mutable-content":1},"pushcrypt":{\#(envelope)}}"#
    }

    private static func read(_ json: String) throws -> OuterPayload { try OuterPayload(JSONText(Array(json.utf8))) }

    @Test("a payload is read with kid, sealed and, if it is signed, skid")
    func members() throws {
        let unsigned = try Self.read(Self.json(#""v":1,"kid":"AAAAAAAAAAA","sealed":"AAEC""#))
        #expect(unsigned.kid.description == "AAAAAAAAAAA")
        #expect(unsigned.sealed == [0, 1, 2])
        #expect(unsigned.skid == nil)
        let signed = try Self.read(Self.json(#""v":1,"kid":"AAAAAAAAAAA","sealed":"AAAA","skid":"AAAAAAAAAAE""#))
        #expect(signed.skid?.description == "AAAAAAAAAAE")
    }

    @Test(
        "a payload in any other valid form is read",
        arguments: [
            #"{"aps":{"alert":"x","mutable-content":1},"pushcrypt":{"v":1,"kid":"AAAAAAAAAAA","sealed":"AA","new":[1]}}"#,
            #"{"pushcrypt":{"sealed":"\u0041A","kid":"AAAAAAAAAAA","v":1},"aps":{"mutable-content":1,"alert":{"body":"x"}}}"#,
            #"{"aps":{"alert":{"loc-key":"x"},"mutable-content":1},"pushcrypt":{"v":1,"kid":"AAAAAAAAAAA","sealed":"_-8"}}"#,
            #" { "aps":{"alert":"x","mutable-content":1,"y":0}, "pushcrypt" : {"v":1,"kid":"AAAAAAAAAAA","sealed":"AA"}}"#,
        ])
    func accepted(json: String) throws { _ = try Self.read(json) }

    @Test(
        "a payload without a pushcrypt member throws notSealed",
        arguments: [
            #"{}"#, #"{"aps":{"alert":"x"}}"#, #"{"aps":5}"#, #"{"x":{"pushcrypt":{}}}"#, #"{"Pushcrypt":{}}"#,
        ])
    func notSealed(json: String) {
        #expect(throws: FailureClass.notSealed) { try Self.read(json) }
    }

    @Test("a payload whose root isn't an object is malformed", arguments: ["1", "null", #"[{"pushcrypt":{}}]"#])
    func noObject(json: String) {
        #expect(throws: FailureClass.malformed) { try Self.read(json) }
    }

    @Test(
        "another version throws unsupportedVersion even with unknown members",
        arguments: ["0", "2", "3", "10", "9007199254740991"])
    func otherVersion(text: String) {
        let whole = Self.json(#""v":\#(text),"kid":"AAAAAAAAAAA","sealed":"AAAA""#)
        let broken = #"{"aps":{"mutable-content":1},"pushcrypt":{"v":\#(text),"sealed":5,"skid":null}}"#
        for json in [whole, broken] {
            #expect(throws: FailureClass.unsupportedVersion) { try Self.read(json) }
        }
    }
}

@Suite struct OuterFrameTests {
    private static let kid = KeyID(thumbprint: [UInt8](repeating: 0, count: 32))
    private static let skid = KeyID(thumbprint: [UInt8](repeating: 0xff, count: 32))

    @Test("an unsigned frame has the documented JSON")
    func unsigned() {
        let frame = OuterFrame(placeholder: Array(#""x""#.utf8), exposed: [], kid: Self.kid, skid: nil)
        let expected =
            #"{"aps":{"alert":"x","mutable-content":1},"pushcrypt":{"v":1,"kid":"AAAAAAAAAAA","sealed":"AAEC"}}"#
        #expect(String(decoding: frame.payload(sealed: [0, 1, 2]), as: UTF8.self) == expected)
        #expect(frame.byteCount == expected.utf8.count - 4)
    }

    @Test("a signed frame with exposed members has the documented JSON")
    func signedAndExposed() throws {
        let frame = OuterFrame(
            placeholder: Array(#"{"title":"é"}"#.utf8),
            exposed: [Array(#""badge":1.50"#.utf8), Array(#""x":{}"#.utf8)], kid: Self.kid, skid: Self.skid)
        let expected =
            #"{"aps":{"alert":{"title":"é"},"mutable-content":1,"badge":1.50,"x":{}},"#
            + #""pushcrypt":{"v":1,"kid":"AAAAAAAAAAA","sealed":"_w","skid":"__________8"}}"#
        let payload = frame.payload(sealed: [255])
        #expect(String(decoding: payload, as: UTF8.self) == expected)
        #expect(frame.byteCount == expected.utf8.count - 2)
        let read = try OuterPayload(JSONText(payload))
        #expect(read.kid == Self.kid)
        #expect(read.skid == Self.skid)
        #expect(read.sealed == [255])
    }
}

@Suite struct OuterReplacingTests {
    private static let old = KeyID(thumbprint: [UInt8](repeating: 0, count: 32))
    private static let new = KeyID(thumbprint: [UInt8](repeating: 0xff, count: 32))

    @Test(
        "replacing the envelope changes only its strings, in any order and spelling of members",
        arguments: [
            (
                #"{"pushcrypt":{"v":1,"kid":"AAAAAAAAAAA","sealed":"AAEC"},"kid":"AAAAAAAAAAA"}"#,
                #"{"pushcrypt":{"v":1,"kid":"__________8","sealed":"AwQF"},"kid":"AAAAAAAAAAA"}"#
            ),
            (
                #" {"a":1.50,"pushcrypt" : { "skid":"AAAAAAAAAAA", "x":{"kid":"y"},"sealed" :"AAEC","kid":"AAAAAAAAAAA"}}"#,
                #" {"a":1.50,"pushcrypt" : { "skid":"__________8", "x":{"kid":"y"},"sealed" :"AwQF","kid":"__________8"}}"#
            ),
            (
                #"{"pushcrypt":{"kid":"\u0041AAAAAAAAAA","\u0073ealed":"\u0041AEC"}}"#,
                #"{"pushcrypt":{"kid":"__________8","\u0073ealed":"AwQF"}}"#
            ),
        ])
    func envelope(before: String, after: String) throws {
        let replaced = try OuterPayload.replacingEnvelope(
            of: JSONText(text: before), at: .standard, kid: Self.new, skid: Self.new, sealed: [3, 4, 5])
        #expect(readable(replaced) == after)
    }

    @Test(
        "replacing the envelope of a frame's payload makes the payload of the other frame", arguments: Carrier.allCases)
    func whatAFrameWrites(_ carrier: Carrier) throws {
        for skid in [nil, Self.old] {
            let frames = [(Self.old, skid), (Self.new, skid.map { _ in Self.new })].map { kid, skid in
                OuterFrame(placeholder: Array(#""é""#.utf8), exposed: [], kid: kid, skid: skid, carrier: carrier)
            }
            let replaced = try OuterPayload.replacingEnvelope(
                of: JSONText(frames[0].payload(sealed: [0, 1])), at: EnvelopePlaces([carrier]), kid: Self.new,
                skid: Self.new, sealed: [2, 3])
            #expect(replaced == frames[1].payload(sealed: [2, 3]))
        }
    }
}
