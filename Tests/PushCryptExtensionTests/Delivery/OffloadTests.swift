import PushCryptExtension
import PushCryptPrimitives
import PushCryptSender
import PushCryptSimulator
import Testing

/// Pushes with an offloaded payload, including those whose payload the extension doesn't fetch.
@Suite struct OffloadTests {
    private static let json = #"{"aps":{"alert":{"title":"Zoë","body":"the whole of it"}},"push_id":9}"#

    /// Returns one body in pieces; fails if there is none.
    private struct OneFile: HTTPTransport {
        let body: [UInt8]?

        func get(_ address: String, receive: @escaping @Sendable ([UInt8]) throws -> Void) async throws {
            guard let body else { throw TransferError(.status, "404") }
            for start in stride(from: 0, to: body.count, by: 1_000) {
                try receive(Array(body[start..<min(start + 1_000, body.count)]))
            }
        }

        func post(_ post: HTTPPost) async throws {}
    }

    static func push() throws -> (payload: [UInt8], blob: [UInt8]) {
        let sealer = try Sealer(topic: TestPush.topic, clock: { TestPush.now })
        let offloaded = try Sealer.offload(Array(json.utf8))
        let reference = try OffloadReference(url: "https://example.com/9", blob: offloaded.reference)
        let push = try sealer.seal(
            Array(#"{"aps":{"alert":"short"}}"#.utf8), to: TestKeys.recipient("p256"), placeholder: .standard,
            offload: reference)
        return (Array(push.json), offloaded.bytes)
    }

    private static func deliver(
        _ payload: [UInt8], _ change: (inout ExtensionConfiguration) -> Void
    ) async throws -> DeliverySession.Delivery {
        var configuration = try ExtensionConfiguration.test()
        change(&configuration)
        let session = try TestSession(payload: payload, configuration: configuration)
        session.releaseKeyring()
        session.start()
        return try #require(await session.finish().first)
    }

    @Test("an offloaded payload is fetched, shown and passed to the stages")
    func whole() async throws {
        let (payload, blob) = try Self.push()
        let reporter = RecordingReporter()
        let delivery = try await Self.deliver(payload) { configuration in
            configuration.offload = OffloadFetcher(transport: OneFile(body: blob))
            configuration.stages = [SuffixStage(suffix: "!")]
            configuration.diagnostics = reporter
        }
        #expect(delivery.failure == nil)
        #expect(delivery.content.title.literal == "Zoë!")
        #expect(delivery.content.body.literal == "the whole of it")
        #expect(delivery.content.userInfo.text == Self.json)
        #expect(reporter.reports.map(\.pushID) == ["9"])
    }

    enum Broken: CaseIterable { case missing, cutOff, flipped, foreign, notConfigured }

    @Test("if the offloaded payload isn't fetched, the short alert is shown", arguments: Broken.allCases)
    func short(_ broken: Broken) async throws {
        let (payload, blob) = try Self.push()
        var body: [UInt8]? = blob
        switch broken {
        case .missing: body = nil
        case .cutOff: body?.removeLast()
        case .flipped: body?[20] ^= 1
        case .foreign: body = try Self.push().blob
        case .notConfigured: break
        }
        let transport = OneFile(body: body)
        let delivery = try await Self.deliver(payload) { configuration in
            if broken != .notConfigured { configuration.offload = OffloadFetcher(transport: transport) }
            configuration.stages = [SuffixStage(suffix: "!")]
        }
        #expect(delivery.failure == .attachmentFailed)
        #expect(delivery.isRestored)
        #expect(delivery.content.body.literal == "short")
        #expect(delivery.content.title.literal == "!")
        #expect(delivery.stageFailures.map(\.stage) == (broken == .notConfigured ? [] : ["offload"]))
    }
}
