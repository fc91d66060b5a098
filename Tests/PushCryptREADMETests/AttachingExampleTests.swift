import Foundation
import PushCryptExtension
import PushCryptPrimitives
import PushCryptSender
import Testing

@Suite("examples of attachments and long messages") struct AttachingExampleTests {
    private let record: KeyRecord
    private let uploads = Locked<[Data]>([])

    init() throws {
        record = try KeyRecord.generate(.recipient, backend: DefaultBackend.shared)
    }

    private var pusher: PicturePusher {
        get throws {
            PicturePusher(sealer: try Sealer(topic: "com.example.app")) { [uploads] blob in
                uploads.withLock { $0.append(blob) }
                return "https://files.example.com/a"
            }
        }
    }

    private var recipient: Recipient {
        get throws { try Recipient(Keyset.Entry(record.publicRecord(keepingPSK: true), KeyLifecycle())) }
    }

    private func open(_ push: SealedPush) throws -> OpenedPush {
        let keyset = try Keyset([Keyset.Entry(record, KeyLifecycle(activatesAt: UnixTime(0)))])
        let opener = try Opener(topic: "com.example.app", keyring: KeysetKeyring(keyset), senders: .unsigned)
        return try opener.open(Array(push.json), at: UnixTime(Int64(Date().timeIntervalSince1970))).get()
    }

    @Test("a sealed picture arrives as an attachment") func picture() async throws {
        let picture = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0) })
        let push = try await pusher.seal(PushNotification(title: "Look"), with: picture, to: recipient)
        let attachment = try #require(try open(push).attachments.first)
        #expect(attachment.type == "image/png")
        let blob = try #require(uploads.withLock { $0.first })
        #expect(try BlobOpener.plaintext(of: Array(blob), attachment.blob) == Array(picture))
    }

    @Test("a message over the limit arrives from its blob") func longMessage() async throws {
        let payload = Data(#"{"aps":{"alert":"\#(String(repeating: "x", count: 5_000))"}}"#.utf8)
        let push = try await pusher.seal(payload, short: PushNotification(title: "A long message"), to: recipient)
        let opened = try open(push)
        #expect(opened.content.title.literal == "A long message")
        let blob = try #require(uploads.withLock { $0.first })
        let plaintext = try BlobOpener.plaintext(of: Array(blob), try #require(opened.offload).blob)
        #expect(try opened.replacing(offloaded: plaintext).payload == Array(payload))
    }
}
