import AsyncHTTPClient
import BackendTestSupport
import Crypto
import Foundation
import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import PushCryptSender
import Testing

@testable import PushBackend

@Suite("limits of time, with a service that listens", .serialized, .timeLimit(.minutes(1)))
struct RequestLimitTests {
    private static let token = "a-token-of-another-part-of-the-backend"

    /// Starts a service, sends it a text, and reads until the service closes the connection or the answer has this end.
    private func answer(
        to text: String, until end: String, _ change: (inout RequestLimits) -> Void
    ) async throws -> String {
        let keys = SigningKeys()
        var configuration = BackendService.Configuration(
            topic: Sending.topic, registrationHost: "push.example.com",
            providerKey: try ProviderKey(pem: P256.Signing.PrivateKey().pemRepresentation), providerKeyID: "",
            teamID: "")
        configuration.port = 0
        change(&configuration.limits)
        let service = try BackendService(
            configuration, store: TestStore().store, signingKeys: KeysetWatcher(file: keys.path),
            userTokens: UserToken(key: Data(repeating: 7, count: 32)), serviceTokens: ServiceTokens([Self.token]),
            senderSet: nil, metrics: PrometheusMetrics(), logger: CapturedLog().logger)
        let client = try APNsClient.httpClient()
        let (ports, port) = AsyncStream.makeStream(of: Int.self)
        let running = Task { try await service.run(client: client) { port.yield($0) } }
        var iterator = ports.makeAsyncIterator()
        let result = try await read(from: try #require(await iterator.next()), text, until: end)
        running.cancel()
        _ = await running.result
        try await client.shutdown()
        return result
    }

    private func read(from port: Int, _ text: String, until end: String) async throws -> String {
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        return try await channel.executeThenClose { inbound, outbound in
            if !text.isEmpty { try await outbound.write(ByteBuffer(string: text)) }
            var answer = ""
            for try await bytes in inbound {
                answer += String(buffer: bytes)
                if answer.hasSuffix(end) { break }
            }
            return answer
        }
    }

    private static let halfRequest = [
        "POST /v1/messages HTTP/1.1", "host: localhost", "authorization: Bearer \(token)",
        "content-type: application/json", "content-length: 100", "", #"{"to":"#,
    ].joined(separator: "\r\n")

    @Test("a body that doesn't end before the deadline is answered with 408")
    func body() async throws {
        let answer = try await answer(to: Self.halfRequest, until: "}") { $0.bodyDeadline = .milliseconds(50) }
        #expect(answer.hasPrefix("HTTP/1.1 408 ") && answer.contains(#""error":"timeout""#))
    }

    @Test("a connection that is idle, before a request and in one, is closed", arguments: ["", halfRequest])
    func idle(text: String) async throws {
        let answer = try await answer(to: text, until: "}") { limits in
            limits.idleTimeout = .milliseconds(50)
            limits.bodyDeadline = .seconds(600)
        }
        #expect(!answer.contains("408"))
    }
}
