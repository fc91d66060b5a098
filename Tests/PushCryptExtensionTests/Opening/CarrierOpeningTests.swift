import PushCryptSender
import PushCryptTestSupport
import Testing

@testable import PushCryptExtension

@Suite("pushes by carriers") struct CarrierOpeningTests {
    private static func opener(_ carriers: Set<Carrier>) throws -> Opener {
        try Opener(
            topic: TestPush.topic, keyring: KeysetKeyring(TestKeys.keyset("p256")), senders: .unsigned,
            carriers: carriers)
    }

    private static func sealed(_ carrier: Carrier) throws -> [UInt8] {
        let options = Sealer.Options(carrier: carrier)
        let sealer = try Sealer(topic: TestPush.topic, options: options, clock: { TestPush.now })
        return try sealer.seal(TestPush.json, to: TestKeys.recipient("p256")).bytes
    }

    private static func configuration(
        _ carriers: Set<Carrier>, _ keyring: (any RecipientKeyring)? = nil
    ) throws -> ExtensionConfiguration {
        var configuration = try ExtensionConfiguration(
            topic: TestPush.topic, keyring: keyring ?? KeysetKeyring(TestKeys.keyset("p256")), senders: .unsigned,
            carriers: carriers, fallback: .bundled(.standard))
        configuration.clock = { TestPush.now }
        return configuration
    }

    @Test(
        "a push opens in an app that names its carrier, and with another carrier only at the same place",
        arguments: Carrier.allCases)
    func opening(_ carrier: Carrier) throws {
        let payload = try Self.sealed(carrier)
        for other in Carrier.allCases {
            let result = try Self.opener([other]).open(payload, at: TestPush.now)
            if (other.path, other.isText) == (carrier.path, carrier.isText) {
                #expect(try result.get().payload.text == TestPush.json)
            } else {
                #expect(result.failure == (other.path == carrier.path ? .malformed : .notSealed))
            }
        }
    }

    /// A relay has moved it.
    private static func byExpo(_ payload: [UInt8]) -> [UInt8] {
        payload.replacing(#""pushcrypt":{"#, with: #""body":{"pushcrypt":{"#) + Array("}".utf8)
    }

    @Test("the same envelope through two carriers is shown once, and then replayed")
    func replay() async throws {
        let payload = try TestPush().sealed()
        var configuration = try Self.configuration([.apns, .expo])
        let folder = try TemporaryFolder()
        configuration.store = SharedStore(folder: folder.path, role: .extension)
        #expect(await configuration.delivery(of: payload).failure == nil)
        #expect(await configuration.delivery(of: Self.byExpo(payload)).failure == .replayed)
    }

    @Test("a placeholder keeps the message of a declared carrier, and the app opens it", arguments: Carrier.allCases)
    func kept(_ carrier: Carrier) async throws {
        let payload = try Self.sealed(carrier)
        let locked = try Self.configuration([carrier], FailingKeyring(failure: .keyLocked))
        let placeholder = await locked.delivery(of: payload).content.userInfo
        // Also the push itself, if the system didn't run the extension.
        for userInfo in [placeholder, payload] {
            let kept = try #require(
                KeptMessage.outerPayload(userInfo: userInfo, at: EnvelopePlaces([carrier, .apns])))
            let opener = try Self.opener([carrier]).readingKeptMessages
            #expect(try opener.open(kept, at: TestPush.now).get().payload.text == TestPush.json)
        }
    }

    @Test("an unsealed push is shown unchanged by an app with another carrier, and a moved envelope isn't opened")
    func unsealed() async throws {
        var configuration = try Self.configuration([.expo])
        configuration.unsealed = .shown
        let plain = #"{"aps":{"alert":"plain","mutable-content":1},"body":{"order":7}}"#
        #expect(await configuration.delivery(of: Array(plain.utf8)).isUnsealed)
        let moved = await configuration.delivery(of: try TestPush().sealed())
        #expect(!moved.isRestored && moved.failure == .notSealed)
    }
}
