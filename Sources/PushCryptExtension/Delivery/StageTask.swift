import PushCryptPrimitives

/// The task of one running stage. It ends once: by its result, its time limit or the session's end. A later result is
/// dropped.
///
/// Each stage runs on its own thread, so a stage that blocks its thread doesn't delay others.
final class StageTask<Output: Sendable>: Sendable {
    typealias Ended = @Sendable (Result<Output, StageFailure.Ending>) -> Void
    typealias Dropped = @Sendable (Output) -> Void

    private struct State {
        let ended: Ended
        var task: Task<Void, Never>?
        var cancelTimer: (@Sendable () -> Void)?
    }

    private let state: EndingOnce<State>
    private let startThread: DedicatedThread.Start
    private let dropped: Dropped

    /// - Parameters:
    ///   - startThread: starts the thread of the stage, and the one that cancels it.
    ///   - dropped: called with a result after the end.
    ///   - ended: called once, on any thread.
    init(_ startThread: @escaping DedicatedThread.Start, dropped: @escaping Dropped, ended: @escaping Ended) {
        self.startThread = startThread
        self.dropped = dropped
        state = EndingOnce(State(ended: ended))
    }

    /// Starts the stage; call it once.
    func start(timeLimit: Duration?, timer: any DeadlineTimer, _ body: @escaping @Sendable () async throws -> Output) {
        if let timeLimit {
            let cancel = timer.schedule(after: timeLimit) { [self] in stop() }
            guard state.update({ $0.cancelTimer = cancel }) else { return cancel() }
        }
        // The task is created within the update: if it were created after a stop, nothing would cancel it.
        state.update { state in
            state.task = StageExecutor.task(startThread) { [self] in
                do {
                    let output = try await body()
                    if !end(.success(output)) { dropped(output) }
                } catch {
                    end(.failure(.failed))
                }
            }
        }
    }

    /// Ends the stage because the time limit of the stage or of the session was reached.
    func stop() { end(.failure(.timedOut), cancelling: true) }

    /// - Returns: false if the task had already ended.
    @discardableResult
    private func end(_ result: Result<Output, StageFailure.Ending>, cancelling: Bool = false) -> Bool {
        guard let last = state.end() else { return false }
        // On another thread, because the stage's cancellation handlers may block.
        if cancelling, let task = last.task { startThread { task.cancel() } }
        last.cancelTimer?()
        last.ended(result)
        return true
    }
}

private enum StageExecutor {
    /// On systems before iOS 18 and macOS 15 the task runs on the shared pool.
    static func task(
        _ startThread: @escaping DedicatedThread.Start, _ body: @escaping @Sendable () async -> Void
    ) -> Task<Void, Never> {
        guard #available(iOS 18, macOS 15, watchOS 11, tvOS 18, visionOS 2, *) else {
            return Task(priority: .userInitiated) { await body() }
        }
        return Task(executorPreference: ThreadExecutor(startThread), priority: .userInitiated) { await body() }
    }
}
