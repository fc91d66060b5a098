/// A batch in progress.
///
/// ```
/// requests ──(one for each permit)──> tasks, in order ──> outcomes
///    ^                                                       │
///    └───────────────── a permit for each taken ─────────────┘
/// ```
/// There are `width` permits at first, so that never more requests are read than outcomes were taken, and `width`.
final class BatchWork<Outcome: Sendable>: Sendable {
    private typealias Work = Task<Outcome, Never>

    private let tasks: AsyncThrowingStream<Task<Outcome, Never>, any Error>
    private let permits: AsyncStream<Void>.Continuation
    private let reading: Task<Void, Never>

    init<Requests: AsyncSequence & Sendable>(
        _ requests: Requests, width: Int, _ work: @escaping @Sendable (Requests.Element) -> Outcome
    ) where Requests.Element: Sendable {
        let (tasks, continuation) = AsyncThrowingStream.makeStream(of: Work.self)
        let (permitted, permits) = AsyncStream.makeStream(of: Void.self)
        for _ in 0..<width { permits.yield() }
        self.tasks = tasks
        self.permits = permits
        reading = Task {
            do {
                var iterator = requests.makeAsyncIterator()
                for await _ in permitted {
                    // What was permitted before the cancellation would still come.
                    guard !Task.isCancelled, let request = try await iterator.next() else { break }
                    continuation.yield(Task { work(request) })
                }
                continuation.finish()
            } catch {
                continuation.finish(throwing: error)
            }
        }
    }

    deinit {
        reading.cancel()
    }

    func next() async throws -> Outcome? {
        try await withTaskCancellationHandler {
            var iterator = tasks.makeAsyncIterator()
            guard !Task.isCancelled, let task = try await iterator.next() else { return nil }
            let outcome = await task.value
            permits.yield()
            return outcome
        } onCancel: {
            reading.cancel()
        }
    }
}
