import Testing

@testable import PushCryptCore

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
