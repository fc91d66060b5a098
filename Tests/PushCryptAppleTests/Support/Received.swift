import Foundation
import PushCryptApple
import PushCryptPrimitives
import PushCryptSimulator
import PushCryptTestSupport
import Testing

final class Received: Sendable {
    private let state = Locked<[UInt8]>([])

    var bytes: [UInt8] { state.withLock { $0 } }
    func take(_ piece: [UInt8]) { state.withLock { $0 += piece } }
}

extension URLSessionTransport {
    /// For servers on loopback. The idle timeout is longer than any test, and the time limit for the head is manual.
    static func loopback(
        allowedHosts: Set<String>? = nil, maximumRedirects: Int = 5, idleTimeout: Duration = .seconds(86_400),
        timer: any DeadlineTimer = ManualTimer()
    ) -> URLSessionTransport {
        URLSessionTransport(
            policy: TransferPolicy(
                allowedHosts: allowedHosts, allowsLoopbackHTTP: true, maximumRedirects: maximumRedirects),
            idleTimeout: idleTimeout, timer: timer)
    }

    func body(of address: String) async throws -> [UInt8] {
        let received = Received()
        try await get(address) { received.take($0) }
        return received.bytes
    }

    func expectBody(
        _ expected: [UInt8], of address: String, _ location: SourceLocation = #_sourceLocation
    ) async throws {
        let body = try await body(of: address)
        #expect(body == expected, sourceLocation: location)
    }
}

/// Expects a transfer to fail with the code, and its reason to contain no part of an address.
func expectFailure(
    _ code: TransferError.Code, _ location: SourceLocation = #_sourceLocation, _ transfer: () async throws -> Void
) async {
    let error = await #expect(throws: TransferError.self, sourceLocation: location) { try await transfer() }
    guard let error else { return }
    #expect(error.code == code, "\(error)", sourceLocation: location)
    #expect(!error.reason.contains("127.0.0.1") && !error.reason.contains("://"), sourceLocation: location)
}

extension ExtensionCommand {
    /// Runs the test program and waits on a new thread, because a test's server needs the threads of the pool.
    ///
    /// - Returns: what it printed; nil if it failed.
    static func outputFromThread(_ arguments: [String]) async throws -> [String]? {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result { try output(arguments) }) }
        }
    }
}
