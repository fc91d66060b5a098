import Dispatch

/// Runs a task's jobs on a queue of its own, so that a task that blocks its thread takes none from the others.
@available(iOS 18, macOS 15, watchOS 11, tvOS 18, visionOS 2, *)
private final class TaskQueue: TaskExecutor {
    private let queue = DispatchQueue(label: "pushcrypt.stage", qos: .userInitiated)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { [self] in
            unsafe job.runSynchronously(on: asUnownedTaskExecutor())
        }
    }
}

enum QueueExecutor {
    /// On systems before those of 2024 the task runs on the pool that all share.
    static func task(_ body: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        guard #available(iOS 18, macOS 15, watchOS 11, tvOS 18, visionOS 2, *) else {
            return Task(priority: .userInitiated) { await body() }
        }
        return Task(executorPreference: TaskQueue(), priority: .userInitiated) { await body() }
    }
}
