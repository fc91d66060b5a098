import Testing

@testable import PushCryptCore

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
        let replaced = OuterPayload.replacingEnvelope(
            of: try JSONText(text: before), kid: Self.new, skid: Self.new, sealed: [3, 4, 5])
        #expect(readable(replaced) == after)
    }

    @Test("replacing the envelope of a frame's payload makes the payload of the other frame")
    func whatAFrameWrites() throws {
        for skid in [nil, Self.old] {
            let frames = [(Self.old, skid), (Self.new, skid.map { _ in Self.new })].map { kid, skid in
                OuterFrame(placeholder: Array(#""é""#.utf8), exposed: [], kid: kid, skid: skid)
            }
            let replaced = OuterPayload.replacingEnvelope(
                of: try JSONText(frames[0].payload(sealed: [0, 1])), kid: Self.new, skid: Self.new, sealed: [2, 3])
            #expect(replaced == frames[1].payload(sealed: [2, 3]))
        }
    }
}
