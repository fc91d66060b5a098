import Foundation
import PushCryptExtension
import PushCryptFiles
import PushCryptKeysets
import PushCryptPrimitives
import PushCryptSender
import PushCryptTestSupport
import Testing

/// Tests the backend of docs/rotation.md whose keys are rotated.
@Suite("example of a sender with rotating keys") struct RotatingExampleTests {
    private let recipient: KeyRecord

    init() throws { recipient = try KeyRecord.generate(.recipient, backend: DefaultBackend.shared) }

    @Test("a pusher signs with the new primary key after a rotation") func signsWithTheKeyOfNow() throws {
        let place = try TemporaryFolder()
        let (path, passphraseFile) = (place.path + "/backend.keyset", place.path + "/passphrase")
        try FileSystem.replace(passphraseFile, with: Array("correct horse\n".utf8))
        let before = try KeysetFiles(.sender, .passphraseFile(passphraseFile))
        let after = try before.rotated()
        try before.write(to: path)
        let pusher = try RotatingPusher(file: path, passphraseFile: passphraseFile)
        let first = try seal(pusher)
        try after.write(to: path)
        pusher.signingKeys.checkNow()
        let second = try seal(pusher)
        let old = before.kids[0]
        #expect(try opened(first, after).signedBy == old)
        #expect(try opened(second, after).signedBy == after.kids.first { $0 != old })
        #expect(try opened(second, after).content.title.literal == "Hello")
    }

    private func seal(_ pusher: RotatingPusher) throws -> SealedPush {
        let record = recipient.publicRecord(keepingPSK: false)
        return try pusher.seal(PushNotification(title: "Hello"), to: Recipient(Keyset.Entry(record, KeyLifecycle())))
    }

    private func opened(_ push: SealedPush, _ senders: KeysetFiles) throws -> OpenedPush {
        let keys = try Keyset([Keyset.Entry(recipient, KeyLifecycle())])
        let senders = try TrustedSenders(senders.keyset)
        let opener = try Opener(topic: "com.example.app", keyring: KeysetKeyring(keys), senders: .pinned(senders))
        return try opener.open(Array(push.json), at: UnixTime(Int64(Date().timeIntervalSince1970))).get()
    }
}
