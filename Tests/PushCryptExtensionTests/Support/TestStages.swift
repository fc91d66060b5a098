import Dispatch
import PushCryptExtension
import PushCryptPrimitives
import PushCryptTestSupport

/// A stage of any kind that changes the content as the test says.
struct TestStage: ContentStage, UnsealedStage, FinalStage {
    struct Failure: Error {}

    var name = "test"
    var timeLimit: Duration?
    let change: @Sendable (inout NotificationContent) async throws -> Void

    static func suffix(_ suffix: String, timeLimit: Duration? = nil) -> TestStage {
        TestStage(name: "suffix", timeLimit: timeLimit) { $0.title.literal = ($0.title.literal ?? "") + suffix }
    }

    static func throwing(_ error: any Error) -> TestStage { TestStage(name: "throwing") { _ in throw error } }

    static let emptying = TestStage(name: "emptying") { $0 = NotificationContent() }

    func process(_ content: NotificationContent, of push: OpenedPush) async throws -> NotificationContent {
        try await process(unsealed: content)
    }

    func finish(_ content: NotificationContent, of push: OpenedPush) async throws -> NotificationContent {
        try await process(unsealed: content)
    }

    func process(unsealed content: NotificationContent) async throws -> NotificationContent {
        var content = content
        try await change(&content)
        return content
    }
}

/// Waits until the test releases it, and then adds " late" to the title.
final class HeldStage: ContentStage {
    enum Manner: CaseIterable {
        /// Waits and ends when it is cancelled.
        case cancellable
        /// Waits and ignores cancellation.
        case ignoresCancellation
        case blocking
    }

    let begun = Signal()
    let ended = Signal()
    let name = "held"
    let timeLimit: Duration?
    private let manner: Manner
    private let gate = DispatchSemaphore(value: 0)
    private let held = Signal()

    init(_ manner: Manner = .cancellable, timeLimit: Duration? = nil) {
        self.manner = manner
        self.timeLimit = timeLimit
    }

    func release() {
        gate.signal()
        held.give()
    }

    func process(_ content: NotificationContent, of push: OpenedPush) async throws -> NotificationContent {
        begun.give()
        defer { ended.give() }
        switch manner {
        case .cancellable: await held.wait()
        case .ignoresCancellation: await Task { await held.wait() }.value
        case .blocking: block()
        }
        try Task.checkCancellation()
        return try await TestStage.suffix(" late").process(content, of: push)
    }

    private func block() { gate.wait() }
}

final class RecordingReporter: DeliveryReporter {
    let reported = Signal()
    private let heard = Locked<[DeliveryReport]>([])
    var reports: [DeliveryReport] { heard.withLock { $0 } }

    func report(_ report: DeliveryReport) {
        heard.withLock { $0.append(report) }
        reported.give()
    }
}

final class RecordingScreen: DeliveredNotifications {
    private let names = Locked<[String]>([])
    var removed: [String] { names.withLock { $0 } }

    func remove(_ requestIDs: [String]) { names.withLock { $0 += requestIDs } }
}

/// A server that returns one body in pieces, or status 404 if it has none.
struct OneBody: HTTPTransport {
    let bytes: [UInt8]?

    func get(_ address: String, receive: @escaping @Sendable ([UInt8]) throws -> Void) async throws {
        guard let bytes else { throw TransferError(.status, "404") }
        for start in stride(from: 0, to: bytes.count, by: 1_000) {
            try receive(Array(bytes[start..<min(start + 1_000, bytes.count)]))
        }
    }

    func post(_ post: HTTPPost) async throws {}
}

/// A server that never responds. A transfer ends when its task is cancelled.
final class StuckTransport: HTTPTransport {
    private let asked: Signal
    private let count = Locked(0)

    /// - Parameter asked: given with the first request.
    init(asked: Signal = Signal()) {
        self.asked = asked
    }

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

/// A server in memory that records the posted bodies and responds as the test sets it.
final class RecordingTransport: HTTPTransport {
    private struct State {
        var bodies: [String] = []
        var answers: [TransferError.Code?] = []
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
    var pushes: [String] { bodies.compactMap { $0.firstMatch(of: /"push":"([^"]*)"/).map { String($0.1) } } }

    /// Sets the next responses, nil for a success; all later ones are successes.
    func answer(_ answers: [TransferError.Code?]) { state.withLock { $0.answers = answers } }

    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    func next() async -> String? {
        var iterator = arrivals.makeAsyncIterator()
        return await iterator.next()
    }

    func get(_ address: String, receive: @escaping @Sendable ([UInt8]) throws -> Void) async throws {
        throw TransferError(.network, "this transport only posts")
    }

    func post(_ post: HTTPPost) async throws {
        let text = post.body.text
        let answer = state.withLock { state in
            state.bodies.append("\(post.contentType) \(post.address) \(text)")
            return state.answers.isEmpty ? nil : state.answers.removeFirst()
        }
        arrived.yield(text)
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
        if let answer { throw TransferError(answer, "thrown by the test") }
    }
}
