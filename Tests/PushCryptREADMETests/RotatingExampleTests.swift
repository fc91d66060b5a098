import Foundation
import PushCryptExtension
import PushCryptFiles
import PushCryptKeysets
import PushCryptKeystore
import PushCryptPrimitives
import PushCryptSender
import PushCryptTestSupport
import Testing

/// Tests the backend of docs/rotation.md whose keys are rotated.
@Suite("example of a sender with rotating keys") struct RotatingExampleTests {
    private let place: TemporaryFolder
    private let store: KeysetStore
    private let secret: KeysetSecret
    private let recipient: KeyRecord

    init() throws {
        place = try TemporaryFolder()
        store = KeysetStore(place.path + "/Keys/backend")
        try FileSystem.replace(place.path + "/passphrase", with: Array("correct horse\n".utf8))
        secret = try .passphraseFile(place.path + "/passphrase")
        recipient = try KeyRecord.generate(.recipient, backend: DefaultBackend.shared)
        try store.create(
            KeyRecord.generate(.sender, backend: DefaultBackend.shared), .standard,
            .passphrase(ScryptParameters(n: 16, r: 8, p: 1)), secret, at: Self.now() - 60, by: Self.actor)
    }

    @Test("a pusher signs with the new primary key after a rotation") func signsWithTheKeyOfNow() throws {
        let pusher = try RotatingPusher(folder: store.folder.path, passphraseFile: place.path + "/passphrase")
        let old = try pusher.signingKeys.senderKey().kid
        let first = try seal(pusher)
        let rotation = { (editor: inout KeysetEditor) throws -> KeyID in
            let kid = try editor.add(activatesAt: nil)
            try editor.promote(kid, force: true)
            return kid
        }
        let new = try store.change(at: Self.now(), by: Self.actor, SecretSource(secret), rotation).result
        pusher.signingKeys.checkNow()
        let second = try seal(pusher)
        #expect(try opened(first).signedBy == old)
        #expect(try opened(second).signedBy == new)
        #expect(try opened(second).content.title.literal == "Hello")
    }

    private func seal(_ pusher: RotatingPusher) throws -> SealedPush {
        let record = recipient.publicRecord(keepingPSK: false)
        return try pusher.seal(PushNotification(title: "Hello"), to: Recipient(Keyset.Entry(record, KeyLifecycle())))
    }

    private func opened(_ push: SealedPush) throws -> OpenedPush {
        let keys = try Keyset([Keyset.Entry(recipient, KeyLifecycle())])
        let senders = try TrustedSenders(Keyset(folder: store.folder.path, secret: secret))
        let opener = try Opener(topic: "com.example.app", keyring: KeysetKeyring(keys), senders: .pinned(senders))
        return try opener.open(Array(push.json), at: Self.now()).get()
    }

    private static let actor = Actor(name: "operator", reason: nil)

    private static func now() -> UnixTime { UnixTime(Int64(Date().timeIntervalSince1970)) }
}
