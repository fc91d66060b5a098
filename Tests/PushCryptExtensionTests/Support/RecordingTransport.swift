import PushCryptExtension
import PushCryptPrimitives

/// A server in memory that records the posted bodies and responds as the test sets it.
final class RecordingTransport: HTTPTransport {
    enum Answer: Sendable {
        case success
        case failure(TransferError.Code)
    }

    private struct State {
        var bodies: [String] = []
        var answers: [Answer] = []
        var waiting: [CheckedContinuation<Void, Never>] = []
        var isOpen: Bool
    }

    private let state: Locked<State>
    private let arrivals: AsyncStream<String>
    private let arrived: AsyncStream<String>.Continuation

    /// - Parameter isOpen: if false, the server responds only after ``open()``.
    init(isOpen: Bool = true) {
        state = Locked(State(isOpen: isOpen))
        (arrivals, arrived) = AsyncStream.makeStream()
    }

    /// The posted bodies in order, including failed posts.
    var bodies: [String] { state.withLock { $0.bodies } }

    /// Sets the next responses; all later ones are successes.
    func answer(_ answers: Answer...) {
        state.withLock { $0.answers = answers }
    }

    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Waits for the next posted body.
    func next() async -> String? {
        var iterator = arrivals.makeAsyncIterator()
        return await iterator.next()
    }

    func get(_ address: String, receive: @escaping @Sendable ([UInt8]) throws -> Void) async throws {
        throw TransferError(.network, "this transport only posts")
    }

    func post(_ post: HTTPPost) async throws {
        let text = String(decoding: post.body, as: UTF8.self)
        let answer = state.withLock { state in
            state.bodies.append("\(post.contentType) \(post.address) \(text)")
            return state.answers.isEmpty ? .success : state.answers.removeFirst()
        }
        arrived.yield(text)
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
        if case .failure(let code) = answer { throw TransferError(code, "thrown by the test") }
    }
}
