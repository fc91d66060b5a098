import Dispatch
import PushCryptPrimitives

/// Processes the elements of a sequence in several lanes and returns the results in order.
///
/// ```
/// inputs ──(one for each permit)──> lanes ──> results, in the order of the inputs
///    ^                                           │
///    └────── a permit for each result taken ─────┘
/// ```
/// There are `capacity` permits, so at most `capacity` inputs and results are in memory. An error of the
/// sequence is thrown after the results of all earlier inputs. Cancelling the task that takes results, or releasing the
/// pipeline, cancels the task that reads the inputs.
package final class OrderedPipeline<Output: Sendable>: Sendable {
    private typealias Work = Task<Output, Never>

    private let results: AsyncThrowingStream<Task<Output, Never>, any Error>
    private let permits: AsyncStream<Void>.Continuation
    private let reading: Task<Void, Never>

    /// Starts to read.
    ///
    /// - Parameters:
    ///   - capacity: the largest number of inputs whose results weren't taken, at least 1.
    ///   - lanes: at least one. Each processes one input at a time.
    package init<Inputs: AsyncSequence & Sendable>(
        _ inputs: Inputs, capacity: Int, lanes: [PipelineLane<Inputs.Element, Output>]
    ) where Inputs.Element: Sendable {
        precondition(capacity > 0 && !lanes.isEmpty)
        let (results, continuation) = AsyncThrowingStream.makeStream(of: Work.self)
        let (permitted, permits) = AsyncStream.makeStream(of: Void.self)
        for _ in 0..<capacity { permits.yield() }
        self.results = results
        self.permits = permits
        reading = Task {
            do {
                var iterator = inputs.makeAsyncIterator()
                var count = 0
                for await _ in permitted {
                    // Permits from before a cancellation still arrive after it.
                    guard !Task.isCancelled, let input = try await iterator.next() else { break }
                    let lane = lanes[count % lanes.count]
                    continuation.yield(Task { await lane.run(input) })
                    count += 1
                }
                continuation.finish()
            } catch {
                continuation.finish(throwing: error)
            }
        }
    }

    deinit { reading.cancel() }

    /// Returns the next result; nil after the last one.
    ///
    /// - Throws: the error of the inputs; `CancellationError` after a cancellation, because nil would mean that all
    ///   inputs are done.
    package func next() async throws -> Output? {
        try await withTaskCancellationHandler {
            try Task.checkCancellation()
            var iterator = results.makeAsyncIterator()
            guard let work = try await iterator.next() else {
                // The stream ends if its reader is cancelled.
                try Task.checkCancellation()
                return nil
            }
            let result = await work.value
            permits.yield()
            return result
        } onCancel: {
            reading.cancel()
        }
    }

    /// Blocks until ``next()`` returns. Not for threads of the concurrency runtime.
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

/// Processes one input at a time. State that the work captures belongs to its lane and needs no lock.
package actor PipelineLane<Input: Sendable, Output: Sendable> {
    private let work: (Input) -> Output

    package init(_ work: sending @escaping (Input) -> Output) { self.work = work }

    fileprivate func run(_ input: Input) -> Output { work(input) }
}
