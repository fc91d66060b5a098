/// Runs the jobs of one task in order, on one thread that exists while there are jobs. Child tasks share the thread, because
/// each thread costs memory.
///
/// It doesn't use Dispatch, whose pool has at most 255 threads: other tasks that block all of them would delay this one.
@available(iOS 18, macOS 15, watchOS 11, tvOS 18, visionOS 2, *)
package final class ThreadExecutor: TaskExecutor {
    private struct State {
        /// The next jobs in reverse order.
        var next: [UnownedJob] = []
        var added: [UnownedJob] = []
        var isRunning = false

        mutating func takeNext() -> UnownedJob? {
            if next.isEmpty { (next, added) = (added.reversed(), []) }
            isRunning = !next.isEmpty
            return next.popLast()
        }
    }

    private let state = Locked(State())
    private let start: DedicatedThread.Start

    /// - Parameter start: starts the thread, again each time after the jobs have ended.
    package init(_ start: @escaping DedicatedThread.Start) { self.start = start }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let startsThread = state.withLock { state in
            defer { state.isRunning = true }
            state.added.append(job)
            return !state.isRunning
        }
        guard startsThread else { return }
        start { [self] in
            while let job = state.withLock({ $0.takeNext() }) {
                unsafe job.runSynchronously(on: asUnownedTaskExecutor())
            }
        }
    }
}
