import PushCryptExtension
import PushCryptSender
import Testing

@Suite struct OpenedPushTests {
    @Test(
        "the opened payload equals the sender's payload byte for byte",
        arguments: [
            #"{"aps":{"alert":"x"}}"#, #" { "aps" : { "alert" : "x" } , "n" : 1.10 }"#,
            #"{"n":[1e400,-0.0,12345678901234567890],"aps":{"alert":"\u00e9é\/"},"x":null}"#,
            "{\n\t\"aps\":{\"alert\":\"x\"}\r\n}\n", TestPush.json,
        ])
    func payloadIsAsWritten(json: String) throws {
        for (key, signer) in [("p256", nil), ("x25519 psk", "sender"), ("device", "sender"), ("shared", nil)] {
            let sealed = try TestPush(key: key, signer: signer, json: json).sealed()
            let push = try TestPush.open(sealed, key: key, trusting: signer.map { [$0] }).get()
            #expect(push.payload.text == json)
        }
    }

    @Test("an opened push returns id, times and kid of the message")
    func members() throws {
        var options = Sealer.Options()
        options.expiresAfterInSeconds = 3_600
        let sealer = try Sealer(topic: TestPush.topic, options: options, clock: { TestPush.now })
        let sealed = try sealer.seal(
            Array(TestPush.json.utf8), to: TestKeys.recipient("p256"), placeholder: .standard)
        let push = try TestPush.open(Array(sealed.json)).get()
        #expect(push.messageID == sealed.id)
        #expect(push.issuedAt == TestPush.now)
        #expect(push.expiresAt == TestPush.now + 3_600)
        #expect(push.expiresAt == sealed.expiresAt)
        #expect(try push.kid == TestKeys.id("p256"))
        #expect(push.signedBy == nil)
        #expect(push.content.title.literal == "Zoë")
        #expect(push.content.body.literal == "Build 1.10 is ready")
        #expect(push.content.badge == 3)
        #expect(push.content.userInfo.text == TestPush.json)
    }

    @Test("an opened push names the sender key that verified it")
    func signedBy() throws {
        let sealed = try TestPush(signer: "sender").sealed()
        let push = try TestPush.open(sealed, trusting: ["other sender", "sender"]).get()
        #expect(push.signedBy == (try TestKeys.id("sender")))
    }

    @Test(
        "the number of padding bytes follows from the padding policy",
        arguments: [PaddingPolicy.none, .multiple(of: 128), .limit])
    func paddingByteCount(policy: PaddingPolicy) throws {
        let plain = try TestPush(options: .init(padding: .none)).sealed()
        let sealed = try TestPush(options: .init(padding: policy)).sealed()
        let padding = try TestPush.open(sealed).get().paddingByteCount
        let byteCount = TestPush.json.utf8.count + Self.headerByteCount
        switch policy {
        case .none: #expect(padding == 0)
        case .limit: #expect(sealed.count >= 4_095 && sealed.count <= 4_096)
        default: #expect((byteCount + padding).isMultiple(of: 128) && padding < 128)
        }
        #expect(try TestPush.open(plain).get().payload.text == TestPush.json)
    }

    private static let header = #","pushcrypt":{"id":"AAECAwQFBgcICQoLDA0ODw","iat":1800000000,"exp":1802592000}"#
    private static let headerByteCount = header.utf8.count

    @Test("members of the outer payload don't appear in the content")
    func nothingOfTheOutside() throws {
        let sealed = try TestPush().sealed()
            .replacing(#""mutable-content":1"#, with: #""mutable-content":1,"badge":99,"category":"PAY","sound":"x""#)
            .replacing(#"{"aps""#, with: #"{"url":"https://example.com","aps""#)
        let content = try TestPush.open(sealed).get().content
        #expect(content.badge == 3)
        #expect(content.category == nil)
        #expect(content.sound == nil)
        #expect(content.userInfo.text == TestPush.json)
    }

    @Test(
        "an opener with an invalid topic throws invalidTopic",
        arguments: ["", "com.example.app/extension", "com.exämple", String(repeating: "a", count: 156)])
    func invalidTopic(topic: String) throws {
        let keyring = try KeysetKeyring(TestKeys.keyset("p256"))
        let error = #expect(throws: KeyError.self) {
            _ = try Opener(topic: topic, keyring: keyring, senders: .unsigned)
        }
        #expect(error?.code == .invalidTopic)
    }
}
