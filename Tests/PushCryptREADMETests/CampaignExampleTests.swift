import Foundation
import PushCryptExtension
import PushCryptSender
import Testing

/// The campaign of docs/campaigns.md.
@Suite("example of a campaign") struct CampaignExampleTests {
    private actor Sent {
        private(set) var pushes: [(token: String, push: SealedPush)] = []

        func add(_ push: SealedPush, _ token: String) {
            pushes.append((token, push))
        }
    }

    /// The pushes are in order, and each is sealed to its own key. A second run gives the same ids.
    @Test("every recipient of a campaign can open its push") func everyRecipientGetsIt() async throws {
        let records = try (0..<5).map { _ in try KeyRecord.generate(.recipient, backend: DefaultBackend.shared) }
        var ids: [[String]] = []
        for _ in 0..<2 {
            let sent = Sent()
            let pusher = CampaignPusher(sealer: try Sealer(topic: "com.example.app")) { await sent.add($0, $1) }
            let (registrations, continuation) = AsyncStream.makeStream(of: (token: String, recipient: Recipient).self)
            for (number, record) in records.enumerated() {
                let entry = Keyset.Entry(record.publicRecord(keepingPSK: true), KeyLifecycle(activatesAt: UnixTime(0)))
                continuation.yield(("token \(number)", try Recipient(entry)))
            }
            continuation.finish()
            let refused = try await pusher.push(PushNotification(body: "Hello"), named: "spring", to: registrations)
            #expect(refused.isEmpty)
            let pushes = await sent.pushes
            #expect(pushes.map(\.token) == (0..<5).map { "token \($0)" })
            for (record, (_, push)) in zip(records, pushes) {
                let keyset = try Keyset([Keyset.Entry(record, KeyLifecycle(activatesAt: UnixTime(0)))])
                let opener = try Opener(topic: "com.example.app", keyring: KeysetKeyring(keyset), senders: .unsigned)
                let opened = try opener.open(Array(push.json), at: UnixTime(Int64(Date().timeIntervalSince1970))).get()
                #expect(opened.content.body.literal == "Hello")
            }
            ids.append(pushes.map(\.push.id))
        }
        #expect(ids[0] == ids[1] && Set(ids[0]).count == 5)
    }
}
