import PushCryptPrimitives

/// One stage at work. It ends once, by its result, its time limit or the session's end, whichever is first; a later result
/// is dropped.
///
/// The stage runs on threads of its own: one that blocks its thread blocks nothing but itself.
final class StageRun<Output: Sendable>: Sendable {
    typealias Ended = @Sendable (Result<Output, StageFailure.Ending>) -> Void
    typealias Dropped = @Sendable (Output) -> Void

    private struct State {
        let ended: Ended
        var task: Task<Void, Never>?
        var cancelTimer: (@Sendable () -> Void)?
    }

    private let state: EndingOnce<State>
    private let dropped: Dropped

    /// - Parameters:
    ///   - dropped: called with a result that comes after the end.
    ///   - ended: called once, on any thread.
    init(dropped: @escaping Dropped, ended: @escaping Ended) {
        self.dropped = dropped
        state = EndingOnce(State(ended: ended))
    }

    /// Begins; call it once.
    func start(
        timeLimit: Duration?, timer: any DeadlineTimer, _ body: @escaping @Sendable () async throws -> Output
    ) {
        if let timeLimit {
            let cancel = timer.schedule(after: timeLimit) { [self] in stop() }
            guard state.update({ $0.cancelTimer = cancel }) else { return cancel() }
        }
        // Within the update: a run that was stopped meanwhile begins no task that nothing would cancel.
        state.update { state in
            state.task = StageExecutor.task { [self] in
                do {
                    let output = try await body()
                    if !end(.success(output)) { dropped(output) }
                } catch {
                    end(.failure(.failed))
                }
            }
        }
    }

    /// Its time is up, or the session's.
    func stop() {
        guard let last = state.end() else { return }
        // On another thread: this runs the stage's own cancellation handlers, which may block.
        if let task = last.task { DedicatedThread.run { task.cancel() } }
        finish(last, .failure(.timedOut))
    }

    /// - Returns: false when the run had ended before.
    @discardableResult
    private func end(_ result: Result<Output, StageFailure.Ending>) -> Bool {
        guard let last = state.end() else { return false }
        finish(last, result)
        return true
    }

    private func finish(_ last: State, _ result: Result<Output, StageFailure.Ending>) {
        last.cancelTimer?()
        last.ended(result)
    }
}

/// Runs the jobs of one task one after the other, on a thread of its own while there are any. A stage that blocks its thread
/// takes none from the others, however many do so: Dispatch has 255 threads at most, and lets the next stage wait. A stage
/// with many child tasks has one thread too, because each thread costs an extension memory.
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
        DedicatedThread.run { [self] in
            while let job = state.withLock({ $0.takeNext() }) {
                unsafe job.runSynchronously(on: asUnownedTaskExecutor())
            }
        }
    }
}

enum StageExecutor {
    /// On systems before those of 2024 the task runs on the shared pool.
    static func task(_ body: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        guard #available(iOS 18, macOS 15, watchOS 11, tvOS 18, visionOS 2, *) else {
            return Task(priority: .userInitiated) { await body() }
        }
        return Task(executorPreference: ThreadExecutor(), priority: .userInitiated) { await body() }
    }
}
