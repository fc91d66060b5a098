import Dispatch
import PushCryptPrimitives

/// One stage at work. It ends once, by its result, its time limit or the session's end, whichever is first; what the stage
/// does afterwards changes nothing.
///
/// The stage runs on a queue of its own: one that blocks its thread blocks nothing but itself.
final class StageRun<Output: Sendable>: Sendable {
    typealias Ended = @Sendable (Result<Output, StageFailure.Ending>) -> Void

    private struct State {
        var ended: Ended?
        var task: Task<Void, Never>?
        var cancelTimer: (@Sendable () -> Void)?
    }

    private let state: Locked<State>

    /// - Parameter ended: called once, on any thread.
    init(ended: @escaping Ended) {
        state = Locked(State(ended: ended))
    }

    /// Begins; call it once.
    func start(
        timeLimit: Duration?, timer: any DeadlineTimer, _ body: @escaping @Sendable () async throws -> Output
    ) {
        if let timeLimit {
            let cancel = timer.schedule(after: timeLimit) { [self] in finish(.failure(.timedOut)) }
            if !keep({ $0.cancelTimer = cancel }) { cancel() }
        }
        let task = QueueExecutor.task { [self] in
            do {
                finish(.success(try await body()))
            } catch {
                finish(.failure(.failed))
            }
        }
        if !keep({ $0.task = task }) { task.cancel() }
    }

    /// The session is over.
    func cancel() {
        finish(.failure(.timedOut))
    }

    /// - Returns: false when the run has ended: then nothing is kept.
    private func keep(_ change: @Sendable (inout State) -> Void) -> Bool {
        state.withLock { state in
            if state.ended != nil { change(&state) }
            return state.ended != nil
        }
    }

    private func finish(_ result: Result<Output, StageFailure.Ending>) {
        let last = state.withLock { state in
            defer { state = State() }
            return state
        }
        guard let ended = last.ended else { return }
        last.cancelTimer?()
        last.task?.cancel()
        ended(result)
    }
}
