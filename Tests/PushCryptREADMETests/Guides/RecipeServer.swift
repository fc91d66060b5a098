import FlyingFox
import FlyingSocks
import Foundation
import PushCryptApple
import PushCryptPrimitives

/// The servers that the recipes name, on loopback: they have one picture and take receipts.
final class RecipeServer: Sendable {
    /// A picture of one pixel.
    static let picture = Data(
        base64Encoded:
            "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")

    private let requests = Locked<[String]>([])
    private let refusesReceipts = Locked(false)
    private let receipts: AsyncStream<String>
    private let received: AsyncStream<String>.Continuation

    private init() {
        (receipts, received) = AsyncStream.makeStream()
    }

    /// The paths in order of the requests.
    var paths: [String] { requests.withLock { $0 } }

    func refuseReceipts(_ isRefused: Bool) { refusesReceipts.withLock { $0 = isRefused } }

    /// Waits for the next receipt, also a refused one: its user agent and its body.
    func receipt() async -> String? {
        var iterator = receipts.makeAsyncIterator()
        return await iterator.next()
    }

    private func answer(_ request: HTTPRequest) async throws -> HTTPResponse {
        requests.withLock { $0.append(request.path) }
        if request.path == "/receipts" {
            let isRefused = refusesReceipts.withLock { $0 }
            let fields = String(decoding: try await request.bodyData, as: UTF8.self)
            received.yield("\(request.headers[HTTPHeader("User-Agent")] ?? "") \(fields)")
            return HTTPResponse(statusCode: isRefused ? .serviceUnavailable : .noContent)
        }
        guard request.path.hasSuffix(".png"), let picture = Self.picture else {
            return HTTPResponse(statusCode: .notFound)
        }
        return HTTPResponse(statusCode: .ok, body: picture)
    }

    /// Serves while `body` runs.
    static func serving<Value: Sendable>(
        _ body: @Sendable (RecipeServer, any HTTPTransport) async throws -> Value
    ) async throws -> Value {
        let state = RecipeServer()
        let server = HTTPServer(
            address: try .inet(ip4: "127.0.0.1", port: 0), timeout: 86_400, logger: .disabled,
            handler: ClosureHTTPHandler { try await state.answer($0) })
        let task = Task { try await server.run() }
        defer { task.cancel() }
        try await server.waitUntilListening(timeout: 86_400)
        guard case .ip4(_, let port) = await server.listeningAddress else { throw CocoaError(.featureUnsupported) }
        let value = try await body(state, Loopback(port: port))
        await server.stop()
        return value
    }

    /// Sends the requests for https addresses of example.com to the server, which has no certificate. Everything else is done
    /// by the transport that apps use, with its default policy.
    private struct Loopback: HTTPTransport {
        let port: UInt16
        private let app = URLSessionTransport()
        private let loopback = URLSessionTransport(
            policy: TransferPolicy(allowedHosts: ["127.0.0.1"], allowsLoopbackHTTP: true),
            idleTimeout: .seconds(86_400), headTimeout: .seconds(86_400))

        init(port: UInt16) { self.port = port }

        private func route(_ address: String) -> (URLSessionTransport, String) {
            guard let match = address.wholeMatch(of: /https:\/\/(?:files|api)\.example\.com(\/.*)/) else {
                return (app, address)
            }
            return (loopback, "http://127.0.0.1:\(port)\(match.1)")
        }

        func get(_ address: String, receive: @escaping @Sendable ([UInt8]) throws -> Void) async throws {
            let (transport, address) = route(address)
            try await transport.get(address, receive: receive)
        }

        func post(_ post: HTTPPost) async throws {
            let (transport, address) = route(post.address)
            try await transport.post(
                HTTPPost(post.body, contentType: post.contentType, userAgent: post.userAgent, to: address))
        }
    }
}
