import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptCore

/// The bytes of the context info, for tests that compare them or seal with them.
func contextInfo(suite: Suite, profile: Profile, kid: KeyID, skid: KeyID?, topic: Topic) -> [UInt8] {
    withContextInfo(suite: suite, profile: profile, kid: kid, skid: skid, topic: topic) { info in Array(info) }
}

@Suite struct ContextInfoTests {
    private static let kid = KeyID(thumbprint: [0xd3, 0xef, 0xf3, 0x67, 0xdf, 0xbf, 0x69, 0xb1])
    private static let skid = KeyID(thumbprint: [UInt8](repeating: 0, count: 32))

    @Test("the context info of a signed message with psk has the documented bytes")
    func bytes() throws {
        let info = contextInfo(
            suite: .x25519, profile: [.psk, .signed], kid: Self.kid, skid: Self.skid,
            topic: try Topic("com.example.app"))
        let expected = "pushcrypt/1\0\u{2}\u{3}\0\u{B}\(Self.kid)\0\u{B}\(Self.skid)\0\u{F}com.example.app"
        #expect(info == Array(expected.utf8))
    }

    @Test(
        "the context info of an unsigned message has an empty skid",
        arguments: [
            (Suite.p256, 0, "\u{1}\0"), (.x25519, 1, "\u{2}\u{1}"), (.shared, 0, "\u{4}\0"),
        ])
    func unsigned(suite: PushCryptCore.Suite, profile: UInt8, numbers: String) throws {
        let info = contextInfo(
            suite: suite, profile: Profile(rawValue: profile), kid: Self.kid, skid: nil, topic: try Topic("a"))
        #expect(info == Array("pushcrypt/1\0\(numbers)\0\u{B}\(Self.kid)\0\0\0\u{1}a".utf8))
    }

    @Test("the Python reference computes the same context info")
    func referenceAgrees() throws {
        let known = OwnVectors.shared.contextInfo
        let info = contextInfo(
            suite: .p256, profile: [.psk, .signed], kid: try TestJWK.named(known.key).record().kid,
            skid: try TestJWK.named(known.signer).record().kid, topic: try Topic(OwnVectors.shared.topic))
        #expect(info == known.hex.bytes)
    }

    @Test("the longest context info has 197 bytes")
    func longest() throws {
        let topic = try Topic(String(repeating: "a", count: 155))
        let info = contextInfo(suite: .shared, profile: [.signed], kid: Self.kid, skid: Self.skid, topic: topic)
        #expect(info.count == 197)
    }

    @Test("a string is prefixed with its length as a big-endian u16", arguments: [0, 1, 255, 256, 65_535])
    func lengthPrefix(count: Int) {
        let text = String(repeating: "é", count: count / 2) + (count % 2 == 1 ? "e" : "")
        let bytes = withTemporaryBytes(capacity: 3 + count) { bytes in
            bytes.append(9)
            bytes.append(lengthPrefixed: text)
            return Array(bytes.bytes)
        }
        #expect(bytes.count == 3 + count)
        #expect(Array(bytes[..<3]) == [9, UInt8(count >> 8), UInt8(count & 0xff)])
    }

    @Test("the input of the signature has the documented bytes")
    func signatureInput() {
        let (info, message) = (Array("info".utf8), Array("message".utf8))
        let input = MessageSignature.input(
            info: info.bytes, recipientName: Array("recipient".utf8), message: message.bytes)
        #expect(input == Array("pushcrypt/1 signature\0inforecipientmessage".utf8))
    }
}
