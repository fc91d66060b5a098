import PushCryptApple
import PushCryptCore
import PushCryptExtension
import PushCryptSender
import PushCryptTestSupport
import Testing

@Suite struct OffloadFetcherTests {
    private static let text = #"{"aps":{"alert":"\#(String(repeating: "long ", count: 20_000))"},"a":1}"#

    private static func reference(_ blob: SealedBlob) throws -> OffloadReference {
        try OffloadReference(url: LoopbackTransport.origin + "a", blob: blob.reference)
    }

    @Test("an offloaded payload is fetched and replaces the short one")
    func fetched() async throws {
        let blob = try Sealer.offload(Array(Self.text.utf8))
        try await RawServer.serving([.body(blob.bytes)]) { server in
            let push = try StagePush.opened(offload: try Self.reference(blob))
            let offload = try #require(push.offload)
            let json = try await OffloadFetcher(transport: LoopbackTransport(server)).payload(offload)
            let whole = try push.replacing(offloaded: json)
            #expect(whole.payload == Array(Self.text.utf8))
            #expect(whole.content.body.literal?.count == 100_000)
        }
    }

    private static let broken: [@Sendable (SealedBlob) throws -> [RawServer.Step]] = [
        { .body($0.bytes.dropLast()) }, { .body($0.bytes + [0]) }, { .body([1] + $0.bytes.dropFirst()) },
        { .body($0.bytes.dropLast() + [$0.bytes[$0.bytes.count - 1] ^ 1]) }, { _ in .body([]) },
        { _ in .body(try Sealer.offload(Array(text.utf8)).bytes) },
        { [.head("200 OK", "Connection: close"), .send($0.bytes), .flood([UInt8](repeating: 0, count: 65_536))] },
    ]

    @Test("a truncated, extended, changed or foreign blob throws damaged", arguments: broken.indices)
    func damaged(index: Int) async throws {
        let blob = try Sealer.offload(Array(Self.text.utf8))
        try await RawServer.serving([try Self.broken[index](blob)]) { server in
            let fetcher = OffloadFetcher(transport: LoopbackTransport(server))
            let error = await #expect(throws: TransferError.self) {
                try await fetcher.payload(try Self.reference(blob))
            }
            #expect(error?.code == .damaged)
        }
    }

    @Test("a blob that the server doesn't have throws status")
    func notFound() async throws {
        let blob = try Sealer.offload(Array(Self.text.utf8))
        try await RawServer.serving([[.head("404 X", "Content-Length: 9"), .hold()]]) { server in
            await expectFailure(.status) {
                _ = try await OffloadFetcher(transport: LoopbackTransport(server)).payload(try Self.reference(blob))
            }
        }
    }

    @Test("a blob over the limit is refused without a request")
    func tooLarge() async throws {
        let blob = try Sealer.offload(Array(Self.text.utf8))
        try await RawServer.serving([.body(blob.bytes)]) { server in
            let fetcher = OffloadFetcher(transport: LoopbackTransport(server), limitInBytes: 65_536)
            let error = await #expect(throws: TransferError.self) {
                try await fetcher.payload(try Self.reference(blob))
            }
            #expect(error?.code == .tooLarge)
            #expect(server.requests.isEmpty)
        }
    }

    @Test("a cancelled fetch throws cancelled and closes its connection")
    func cancelled() async throws {
        let blob = try Sealer.offload(Array(Self.text.utf8))
        let (asked, closed) = (Signal(), Signal())
        let steps: [RawServer.Step] = [
            .head("200 OK", "Content-Length: \(blob.bytes.count)"), .send(Array(blob.bytes[..<70_000])), .give(asked),
            .hold(closed),
        ]
        try await RawServer.serving([steps]) { server in
            let fetcher = OffloadFetcher(transport: LoopbackTransport(server))
            let fetch = Task { try await fetcher.payload(try Self.reference(blob)) }
            await asked.wait()
            fetch.cancel()
            await expectFailure(.cancelled) { _ = try await fetch.value }
            await closed.wait()
        }
    }
}
