import Foundation
import PushCryptExtension
import PushCryptSender
import PushCryptTestSupport
import Testing

/// Apps that have the sender's public key in their code, in place of pins.
@Suite("a sender key in the app's code") struct KeyInCodeTests {
    private static func x(_ key: String) throws -> String {
        let jwk = try JSONSerialization.jsonObject(with: Data(ReferenceVectors.shared.publicJWK(key)))
        return try #require((jwk as? [String: Any])?["x"] as? String)
    }

    private static func open(_ signer: String?, _ senders: SenderTrust) throws -> Result<OpenedPush, FailureClass> {
        try Opener(
            topic: TestPush.topic, keyring: KeysetKeyring(TestKeys.keyset("p256")), senders: senders
        ).open(TestPush(signer: signer).sealed(), at: TestPush.now)
    }

    @Test("pushes of the key open, those of another key are unknownKey, and unsigned ones undecryptable")
    func opens() throws {
        let text = try Self.x("sender")
        let standard = text.replacing("-", with: "+").replacing("_", with: "/") + "="
        for text in [text, standard] {
            #expect(try Self.open("sender", .key(text)).get().signedBy == TestKeys.id("sender"))
            #expect(try Self.open("other sender", .key(text)).failure == .unknownKey)
            #expect(try Self.open(nil, .key(text)).failure == .undecryptable)
        }
    }

    @Test("an app with the key and a later one with a signed set that has it open the same pushes")
    func successor() throws {
        let folder = TemporaryFolder.make()
        let set = [UInt8](repeating: 1, count: 16)
        let pins = try SenderPins(folder: folder.path + "/pins", publishers: .test(set: set), topic: TestPush.topic)
        let keys = ["sender", "other sender"].map { ($0, KeyLifecycle.always) }
        try pins.accept(TestSenderSet(keys: keys, id: set).document(), at: TestPush.now)
        for trust in [try SenderTrust.key(Self.x("sender")), .pinned(pins)] {
            #expect(try Self.open("sender", trust).get().payload.text == TestPush.json)
        }
        #expect(try Self.open("other sender", .key(Self.x("sender"))).failure == .unknownKey)
        #expect(try Self.open("other sender", .pinned(pins)).failure == nil)
    }

    @Test(
        "a text that isn't a public key throws invalidKey",
        arguments: ["", "AAAA", "key", String(repeating: "A", count: 43)])
    func invalid(text: String) throws { expectKeyError(.invalidKey) { try SenderTrust.key(text) } }
}
