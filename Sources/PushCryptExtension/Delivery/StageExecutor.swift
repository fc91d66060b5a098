import PushCryptPrimitives

/// Runs each job of a task on a thread of its own. A stage that blocks its thread takes none from the others, however many
/// do so: Dispatch has 255 threads at most, and lets the next stage wait.
@available(iOS 18, macOS 15, watchOS 11, tvOS 18, visionOS 2, *)
private final class ThreadExecutor: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        OwnThread.startOrQueue { [self] in
            unsafe job.runSynchronously(on: asUnownedTaskExecutor())
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
