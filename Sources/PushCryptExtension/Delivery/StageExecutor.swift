import PushCryptPrimitives

/// Runs the jobs of one task one after the other, on a thread of their own while there are any. A stage that blocks its
/// thread takes none from the others, however many do so: Dispatch has 255 threads at most, and lets the next stage wait.
/// A stage that starts many child tasks has one thread all the same, because each costs an extension memory.
@available(iOS 18, macOS 15, watchOS 11, tvOS 18, visionOS 2, *)
private final class ThreadExecutor: TaskExecutor {
    private struct State {
        /// In reverse order: the first is the last.
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

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let startsThread = state.withLock { state in
            defer { state.isRunning = true }
            state.added.append(job)
            return !state.isRunning
        }
        guard startsThread else { return }
        OwnThread.startOrQueue { [self] in
            while let job = state.withLock({ $0.takeNext() }) {
                unsafe job.runSynchronously(on: asUnownedTaskExecutor())
            }
        }
    }
}

enum StageExecutor {
    /// On systems before those of 2024 the task runs on the pool that all share.
    static func task(_ body: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        guard #available(iOS 18, macOS 15, watchOS 11, tvOS 18, visionOS 2, *) else {
            return Task(priority: .userInitiated) { await body() }
        }
        return Task(executorPreference: ThreadExecutor(), priority: .userInitiated) { await body() }
    }
}
