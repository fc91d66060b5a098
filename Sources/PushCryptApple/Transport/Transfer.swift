import Dispatch
import Foundation
import PushCryptExtension
import PushCryptPrimitives

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// One request with its redirects. Its caller is resumed once.
final class Transfer: Sendable {
    typealias Waiting = CheckedContinuation<Void, any Error>

    private struct State: Sendable {
        var task: URLSessionTask?
        var continuation: Waiting?
        /// The result or the first failure; nothing is received after it.
        var outcome: Result<Void, any Error>?
        var hasHead = false
        var isReceiving = false
        var redirectCount = 0
        var receivedByteCount: Int64 = 0

        /// Returns the continuation once, when nothing more will be received.
        mutating func takeContinuation() -> Waiting? {
            guard !isReceiving else { return nil }
            defer { continuation = nil }
            return continuation
        }
    }

    private let policy: TransferPolicy
    /// The status codes of success.
    private let success: Range<Int>
    private let receive: (@Sendable ([UInt8]) throws -> Void)?
    private let state = Locked(State())

    /// - Parameter receive: if nil, the body isn't read, and the transfer ends with the response head.
    init(policy: TransferPolicy, success: Range<Int>, receive: (@Sendable ([UInt8]) throws -> Void)?) {
        self.policy = policy
        self.success = success
        self.receive = receive
    }

    func start(_ request: URLRequest, in session: URLSession, _ router: TransferRouter, _ continuation: Waiting) {
        let task = session.dataTask(with: request)
        router.add(self, for: task)
        let outcome = state.withLock { state in
            if state.outcome == nil {
                state.task = task
                state.continuation = continuation
            }
            return state.outcome
        }
        guard let outcome else { return task.resume() }
        // The transfer was cancelled before its start.
        task.cancel()
        continuation.resume(with: outcome)
    }

    func cancel() { fail(TransferError(.cancelled, "the transfer was cancelled")) }

    func giveUpHead() {
        guard !state.withLock({ $0.hasHead }) else { return }
        fail(TransferError(.cancelled, "the server took too long to send the response head"))
    }

    func fail(_ failure: any Error) { finish(.failure(failure)) }

    /// Resumes the caller at once, or when `receive` has returned. The session may close the connection later.
    private func finish(_ outcome: Result<Void, any Error>) {
        let (task, continuation) = state.withLock { state in
            guard state.outcome == nil else { return (nil as URLSessionTask?, nil as Waiting?) }
            state.outcome = outcome
            return (state.task, state.takeContinuation())
        }
        // The task is cancelled once, and on another thread: on Linux cancelling waits for the reading thread, which may be this
        // one.
        if let task {
            DispatchQueue.global().async { task.cancel() }
        }
        continuation?.resume(with: outcome)
    }
}

/// The calls of the session, on the delegate's queue.
extension Transfer {
    func redirect(to request: URLRequest, _ answer: @escaping @Sendable (URLRequest?) -> Void) {
        let refusal = refusal(of: request)
        if let refusal { fail(refusal) }
        state.withLock { state in
            if state.outcome == nil {
                answer(request)
            } else {
                #if !canImport(FoundationNetworking)
                answer(nil)
                #endif
                // Foundation on Linux traps if the answer comes after the end of a task. Under the lock the answer is given
                // before the task is cancelled, or not at all.
            }
        }
    }

    private func refusal(of request: URLRequest) -> TransferError? {
        let count = state.withLock { state in
            state.redirectCount += 1
            return state.redirectCount
        }
        guard count <= policy.maximumRedirects else {
            return policy.maximumRedirects == 0
                ? TransferError(.status, "the server responded with a redirect")
                : TransferError(.addressRefused, "the server redirected more than \(policy.maximumRedirects) times")
        }
        do throws(TransferError) {
            try policy.check(request.url?.absoluteString ?? "")
            return nil
        } catch {
            return TransferError(error.code, "a redirect was refused: \(error.reason)")
        }
    }

    func begin(_ response: URLResponse) {
        if let failure = flaw(of: response) { return fail(failure) }
        state.withLock { $0.hasHead = true }
        if receive == nil { finish(.success(())) }
    }

    func append(_ piece: [UInt8]) {
        let isWanted = state.withLock { state in
            state.isReceiving = state.outcome == nil
            state.receivedByteCount += Int64(piece.count)
            return state.isReceiving
        }
        guard isWanted else { return }
        do { try receive?(piece) } catch { fail(error) }
        let (outcome, continuation) = state.withLock { state in
            state.isReceiving = false
            return (state.outcome, state.outcome == nil ? nil : state.takeContinuation())
        }
        if let outcome { continuation?.resume(with: outcome) }
    }

    /// Ends the transfer when its task has ended.
    func end(_ response: URLResponse?, _ error: (any Error)?) {
        // A redirect without a valid target ends a task without ``begin(_:)``.
        let failure = error.map(TransferError.init(_:)) ?? flaw(of: response) ?? wrongLength(of: response)
        let (continuation, outcome) = state.withLock { state in
            state.task = nil
            return (state.takeContinuation(), state.outcome ?? failure.map { .failure($0) } ?? .success(()))
        }
        continuation?.resume(with: outcome)
    }

    private func flaw(of response: URLResponse?) -> TransferError? {
        guard let response = response as? HTTPURLResponse else {
            return TransferError(.network, "there was no response")
        }
        guard success.contains(response.statusCode) else {
            return TransferError(.status, "the server responded with the status \(response.statusCode)")
        }
        let encoding = response.value(forHTTPHeaderField: "Content-Encoding")?.lowercased() ?? "identity"
        guard receive == nil || encoding == "identity" else {
            return TransferError(.encoding, "the server sent a content encoding that wasn't requested")
        }
        return nil
    }

    /// The system ignores an invalid or repeated length, or uses only its first digits, and accepts such a body as complete.
    private func wrongLength(of response: URLResponse?) -> TransferError? {
        guard let length = (response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Content-Length"),
            Int64(length) != state.withLock({ $0.receivedByteCount })
        else { return nil }
        return TransferError(.network, "the body does not have the length in the response head")
    }
}

extension TransferError {
    static let password = TransferError(.status, "the server requires a password")

    /// Converts an error of the session without its address.
    init(_ error: any Error) {
        let code = (error as? URLError)?.code
        let number = code.map { " (\($0.rawValue))" } ?? ""
        switch code {
        case .cancelled: self.init(.cancelled, "the transfer was cancelled")
        case .timedOut: self.init(.cancelled, "the server sent nothing for too long")
        case .appTransportSecurityRequiresSecureConnection:
            self.init(.addressRefused, "the system requires https\(number)")
        default: self.init(.network, "the network failed\(number)")
        }
    }
}
