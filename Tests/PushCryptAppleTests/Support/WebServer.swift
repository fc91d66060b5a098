import FlyingFox
import FlyingSocks
import Foundation

/// A well-behaved HTTP server on loopback.
struct WebServer: Sendable {
    let port: UInt16

    /// In seconds. Other tests may keep the threads busy for a long time.
    private static let longerThanAnyTest: TimeInterval = 86_400

    func address(_ path: String) -> String { "http://127.0.0.1:\(port)/\(path)" }

    /// Serves while `body` runs.
    static func serving<Value: Sendable>(
        _ answer: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse,
        _ body: @Sendable (WebServer) async throws -> Value
    ) async throws -> Value {
        let server = HTTPServer(
            address: try .inet(ip4: "127.0.0.1", port: 0), timeout: longerThanAnyTest, logger: .disabled,
            handler: ClosureHTTPHandler(answer))
        let task = Task { try await server.run() }
        defer { task.cancel() }
        try await server.waitUntilListening(timeout: longerThanAnyTest)
        guard case .ip4(_, let port) = await server.listeningAddress else { throw CocoaError(.featureUnsupported) }
        let value = try await body(WebServer(port: port))
        await server.stop()
        return value
    }
}
