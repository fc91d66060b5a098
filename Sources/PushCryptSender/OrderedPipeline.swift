import Dispatch
import PushCryptPrimitives

/// Works on the elements of a sequence in several lanes and hands the results out in order.
///
/// ```
/// inputs ──(one for each permit)──> lanes ──> results, in the order of the inputs
///    ^                                           │
///    └────────── a permit for each taken ────────┘
/// ```
/// There are `capacity` permits at first, so memory is bounded: there are never more than `capacity` inputs whose results
/// nobody has taken. An error of the sequence comes after the results of everything that was read before it. Cancelling
/// the task that takes results, or releasing the pipeline, cancels the task that reads the inputs.
package final class OrderedPipeline<Output: Sendable>: Sendable {
    private typealias Work = Task<Output, Never>

    private let results: AsyncThrowingStream<Task<Output, Never>, any Error>
    private let permits: AsyncStream<Void>.Continuation
    private let reading: Task<Void, Never>
    private let started: StartedWork

    /// Begins to read.
    ///
    /// - Parameters:
    ///   - capacity: the most inputs that are read ahead of the results taken, at least 1.
    ///   - lanes: what works on the inputs; as many inputs as there are lanes are worked on at the same time. At least one.
    package init<Inputs: AsyncSequence & Sendable>(
        _ inputs: Inputs, capacity: Int, lanes: [PipelineLane<Inputs.Element, Output>]
    ) where Inputs.Element: Sendable {
        precondition(capacity > 0 && !lanes.isEmpty)
        let (results, continuation) = AsyncThrowingStream.makeStream(of: Work.self)
        let (permitted, permits) = AsyncStream.makeStream(of: Void.self)
        for _ in 0..<capacity { permits.yield() }
        self.results = results
        self.permits = permits
        let started = StartedWork()
        self.started = started
        reading = Task {
            do {
                var iterator = inputs.makeAsyncIterator()
                var count = 0
                for await _ in permitted {
                    // Permits that were given before the cancellation still arrive after it.
                    guard !Task.isCancelled, let input = try await iterator.next() else { break }
                    guard started.begin() else { break }
                    let lane = lanes[count % lanes.count]
                    continuation.yield(
                        Task {
                            defer { started.end() }
                            return await lane.run(input)
                        })
                    count += 1
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

    /// Stops reading and waits until no lane works. A process that exits while another thread is inside OpenSSL may crash:
    /// OpenSSL frees its memory at exit. A read that blocks is not waited for.
    package func stopAndWait() {
        reading.cancel()
        started.stopAndWait()
    }

    /// - Returns: the next result; nil after the last one or after a cancellation.
    /// - Throws: what the inputs throw.
    package func next() async throws -> Output? {
        try await withTaskCancellationHandler {
            var iterator = results.makeAsyncIterator()
            guard !Task.isCancelled, let work = try await iterator.next() else { return nil }
            let result = await work.value
            permits.yield()
            return result
        } onCancel: {
            reading.cancel()
        }
    }

    /// The same for a thread that may block: never one of the concurrency runtime's.
    package func waitForNext() throws -> Output? {
        let arrival = DispatchSemaphore(value: 0)
        let result = Locked<Result<Output?, any Error>?>(nil)
        Task {
            do {
                let output = try await next()
                result.withLock { $0 = .success(output) }
            } catch {
                result.withLock { $0 = .failure(error) }
            }
            arrival.signal()
        }
        arrival.wait()
        return try result.withLock { $0 }?.get()
    }
}

/// Counts the work of the lanes that has begun and hasn't ended.
private final class StartedWork: Sendable {
    private let isStopped = Locked(false)
    private let running = DispatchGroup()

    /// - Returns: false once the pipeline is stopped.
    func begin() -> Bool {
        isStopped.withLock { isStopped in
            if !isStopped { running.enter() }
            return !isStopped
        }
    }

    func end() {
        running.leave()
    }

    func stopAndWait() {
        isStopped.withLock { $0 = true }
        running.wait()
    }
}

/// Works on one input at a time. What the work uses belongs to its lane alone and needs no lock.
package actor PipelineLane<Input: Sendable, Output: Sendable> {
    private let work: (Input) -> Output

    package init(_ work: sending @escaping (Input) -> Output) {
        self.work = work
    }

    fileprivate func run(_ input: Input) -> Output { work(input) }
}
