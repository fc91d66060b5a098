import PushCryptExtension
import PushCryptSender
import Testing

/// Pushes with an offloaded payload. `BlobAttackTests` have servers that change it.
@Suite struct OffloadTests {
    private static let json = #"{"aps":{"alert":{"title":"Zoë","body":"the whole of it"}},"push_id":9}"#

    private let blob: SealedBlob
    private let payload: [UInt8]

    init() throws {
        blob = try Sealer.offload(Array(Self.json.utf8))
        payload = try TestPush.offloading(blob)
    }

    @Test("an offloaded payload is fetched, shown and passed to the stages")
    func whole() async throws {
        let reporter = RecordingReporter()
        let delivery = try await deliver(payload, reporter: reporter) {
            $0.offload = OffloadFetcher(transport: OneBody(bytes: blob.bytes))
            $0.stages = [TestStage.suffix("!")]
        }
        #expect(delivery.failure == nil)
        #expect(delivery.content.title.literal == "Zoë!")
        #expect(delivery.content.body.literal == "the whole of it")
        #expect(delivery.content.userInfo.text == Self.json)
        #expect(reporter.reports.map(\.pushID) == ["9"])
    }

    @Test("if the offloaded payload is missing or isn't fetched, the short alert is shown", arguments: [true, false])
    func short(isFetched: Bool) async throws {
        let delivery = try await deliver(payload) {
            if isFetched { $0.offload = OffloadFetcher(transport: OneBody(bytes: nil)) }
            $0.stages = [TestStage.suffix("!")]
        }
        #expect(delivery.failure == .attachmentFailed)
        #expect(delivery.isRestored)
        #expect(delivery.content.body.literal == "short")
        #expect(delivery.content.title.literal == "!")
        #expect(delivery.stageFailures.map(\.stage) == (isFetched ? ["offload"] : []))
    }
}
