import PushCryptPrimitives

/// One stage at work. It ends once, by its result, its time limit or the session's end, whichever is first; a result that
/// comes afterwards is dropped.
///
/// The stage runs on threads of its own: one that blocks its thread blocks nothing but itself.
final class StageRun<Output: Sendable>: Sendable {
    typealias Ended = @Sendable (Result<Output, StageFailure.Ending>) -> Void
    typealias Dropped = @Sendable (Output) -> Void

    private struct State {
        var ended: Ended?
        var task: Task<Void, Never>?
        var cancelTimer: (@Sendable () -> Void)?
        /// It ended before the stage did.
        var isStopped = false
    }

    private let state: Locked<State>
    private let dropped: Dropped

    /// - Parameters:
    ///   - dropped: called with a result that comes after the end.
    ///   - ended: called once, on any thread.
    init(dropped: @escaping Dropped, ended: @escaping Ended) {
        self.dropped = dropped
        state = Locked(State(ended: ended))
    }

    /// Begins; call it once.
    func start(
        timeLimit: Duration?, timer: any DeadlineTimer, _ body: @escaping @Sendable () async throws -> Output
    ) {
        if let timeLimit {
            let cancel = timer.schedule(after: timeLimit) { [self] in stop() }
            if !keep({ $0.cancelTimer = cancel }) { cancel() }
        }
        let task = StageExecutor.task { [self] in
            do {
                let output = try await body()
                if !end(.success(output)) { dropped(output) }
            } catch {
                end(.failure(.failed))
            }
        }
        if !keep({ $0.task = task }), state.withLock({ $0.isStopped }) { Self.cancel(task) }
    }

    /// Its time is up, or the session's.
    func stop() {
        end(.failure(.timedOut), isStopped: true)
    }

    /// - Returns: false when the run has ended: then nothing is kept.
    private func keep(_ change: @Sendable (inout State) -> Void) -> Bool {
        state.withLock { state in
            if state.ended != nil { change(&state) }
            return state.ended != nil
        }
    }

    /// - Returns: false when the run had ended before.
    @discardableResult
    private func end(_ result: Result<Output, StageFailure.Ending>, isStopped: Bool = false) -> Bool {
        let last = state.withLock { state in
            defer { state = State(isStopped: state.ended == nil ? state.isStopped : isStopped) }
            return state
        }
        guard let ended = last.ended else { return false }
        last.cancelTimer?()
        if isStopped, let task = last.task { Self.cancel(task) }
        ended(result)
        return true
    }

    /// On another thread: this runs the stage's own cancellation handlers, which may block.
    private static func cancel(_ task: Task<Void, Never>) {
        OwnThread.startOrQueue { task.cancel() }
    }
}
