import Dispatch
import PushCryptPrimitives

/// Runs a function once after a duration. Tests use a timer that they control.
public protocol DeadlineTimer: Sendable {
    /// Calls `body` once after `duration`, on any thread.
    ///
    /// - Returns: a function that cancels the wait.
    func schedule(after duration: Duration, _ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void
}

/// A timer that waits on a new thread, so that stages that block all threads of a pool don't delay the deadline.
public struct ThreadTimer: DeadlineTimer {
    /// Creates a timer; it has no state.
    public init() {}

    /// Calls `body` once after `duration`, on a new thread.
    public func schedule(after duration: Duration, _ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        let cancelled = DispatchSemaphore(value: 0)
        DedicatedThread.run {
            if cancelled.wait(timeout: .now() + duration.dispatchInterval) == .timedOut { body() }
        }
        return { cancelled.signal() }
    }
}

extension DeadlineTimer {
    /// Runs work in a task that is cancelled after a duration, or when the caller is cancelled. This function returns when the
    /// work returns, so the work must end at once when it is cancelled.
    func limit<Value: Sendable>(
        _ duration: Duration, _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let task = Task(operation: work)
        let giveUp = schedule(after: duration) { task.cancel() }
        defer { giveUp() }
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }
}
