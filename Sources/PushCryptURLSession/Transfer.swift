import Dispatch
import Foundation
import PushCryptExtension
import PushCryptPrimitives

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// One request with its redirects, from the first check to the one answer that its caller gets.
final class Transfer: Sendable {
    private typealias Waiting = CheckedContinuation<Void, any Error>

    private struct State: Sendable {
        var task: URLSessionTask?
        var continuation: Waiting?
        /// The first thing that went wrong; nothing is received after it.
        var failure: (any Error)?
        var isReceiving = false
        var redirectCount = 0

        /// The continuation, once: when nothing more will be received.
        mutating func takeContinuation() -> Waiting? {
            guard !isReceiving else { return nil }
            defer { continuation = nil }
            return continuation
        }
    }

    private let policy: TransferPolicy
    /// The status codes of success.
    private let success: Range<Int>
    private let receive: @Sendable ([UInt8]) throws -> Void
    private let state = Locked(State())

    init(
        policy: TransferPolicy, success: Range<Int>, receive: @escaping @Sendable ([UInt8]) throws -> Void
    ) {
        self.policy = policy
        self.success = success
        self.receive = receive
    }

    /// - Parameter continuation: resumed once. No piece comes after it.
    func start(
        _ request: URLRequest, in session: URLSession, _ router: TransferRouter,
        _ continuation: CheckedContinuation<Void, any Error>
    ) {
        let task = session.dataTask(with: request)
        router.add(self, for: task)
        let failure = state.withLock { state in
            if state.failure == nil { (state.task, state.continuation) = (task, continuation) }
            return state.failure
        }
        guard let failure else { return task.resume() }
        // It was cancelled before its start.
        task.cancel()
        continuation.resume(throwing: failure)
    }

    /// May come at any time, from any thread.
    func cancel() {
        fail(TransferError(.cancelled, "the transfer was cancelled"))
    }

    /// The caller has its answer at once, or when the piece is taken that is being taken; the session may need longer to
    /// let go of the connection.
    func fail(_ failure: any Error) {
        let (task, continuation) = state.withLock { state in
            guard state.failure == nil else { return (nil as URLSessionTask?, nil as Waiting?) }
            state.failure = failure
            return (state.task, state.takeContinuation())
        }
        // Elsewhere: on Linux this waits for the thread that reads, which may be this one.
        if let task { DispatchQueue.global().async { task.cancel() } }
        continuation?.resume(throwing: failure)
    }
}

/// What the session says; on the delegate's queue.
extension Transfer {
    func redirect(to request: URLRequest, _ answer: @escaping @Sendable (URLRequest?) -> Void) {
        let refusal = refusal(of: request)
        if let refusal { fail(refusal) }
        state.withLock { state in
            if state.failure == nil {
                answer(request)
            } else {
                #if !canImport(FoundationNetworking)
                answer(nil)
                #endif
                // Linux dies of an answer that comes after the end of a task. Under the lock, an answer is given before
                // the task is cancelled, or not at all.
            }
        }
    }

    private func refusal(of request: URLRequest) -> TransferError? {
        let count = state.withLock { state in
            state.redirectCount += 1
            return state.redirectCount
        }
        guard count <= policy.maximumRedirects else {
            let limit = policy.maximumRedirects
            return limit == 0
                ? TransferError(.status, "the server answered with a redirect")
                : TransferError(.addressRefused, "the server redirected more than \(limit) times")
        }
        do throws(TransferError) {
            try policy.check(request.url?.absoluteString ?? "")
            return nil
        } catch {
            return TransferError(error.code, "a redirect was refused: \(error.reason)")
        }
    }

    func begin(_ response: URLResponse) {
        if let failure = flaw(of: response) { fail(failure) }
    }

    func take(_ piece: [UInt8]) {
        let isWanted = state.withLock { state in
            state.isReceiving = state.failure == nil
            return state.isReceiving
        }
        guard isWanted else { return }
        do {
            try receive(piece)
        } catch {
            fail(error)
        }
        let (failure, continuation) = state.withLock { state in
            state.isReceiving = false
            return (state.failure, state.failure == nil ? nil : state.takeContinuation())
        }
        if let failure { continuation?.resume(throwing: failure) }
    }

    func end(_ response: URLResponse?, _ error: (any Error)?) {
        // A redirect to nowhere ends a task without ``begin(_:)``.
        let outcome = error.map(TransferError.init(_:)) ?? flaw(of: response)
        let (continuation, failure) = state.withLock { state in
            state.task = nil
            return (state.takeContinuation(), state.failure ?? outcome)
        }
        if let failure {
            continuation?.resume(throwing: failure)
        } else {
            continuation?.resume()
        }
    }

    private func flaw(of response: URLResponse?) -> TransferError? {
        guard let response = response as? HTTPURLResponse else {
            return TransferError(.network, "there was no answer")
        }
        guard success.contains(response.statusCode) else {
            return TransferError(.status, "the server answered \(response.statusCode)")
        }
        let encoding = response.value(forHTTPHeaderField: "Content-Encoding")?.lowercased() ?? "identity"
        guard encoding == "identity" else {
            return TransferError(.encoding, "the server sent an encoding that wasn't asked for")
        }
        return nil
    }
}
