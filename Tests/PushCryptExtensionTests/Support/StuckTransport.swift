import PushCryptExtension
import PushCryptPrimitives
import PushCryptTestSupport

/// A server that never responds. A transfer ends when its task is cancelled.
final class StuckTransport: HTTPTransport {
    private let asked: Signal
    private let count = Locked(0)

    /// - Parameter asked: given with the first request.
    init(asked: Signal = Signal()) {
        self.asked = asked
    }

    /// The number of requests.
    var requestCount: Int { count.withLock { $0 } }

    func get(_ address: String, receive: @escaping @Sendable ([UInt8]) throws -> Void) async throws {
        count.withLock { $0 += 1 }
        asked.give()
        await Signal().wait()
        throw TransferError(.cancelled, "the transfer was cancelled")
    }

    func post(_ post: HTTPPost) async throws {
        try await get(post.address) { _ in }
    }
}
