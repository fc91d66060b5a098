import Dispatch
import PushCryptPrimitives

/// Calls back once after a duration; tests use one that they control.
public protocol DeadlineTimer: Sendable {
    /// Calls `body` once after `duration`, on any thread.
    ///
    /// - Returns: a function that gives the wait up.
    func schedule(after duration: Duration, _ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void
}

/// Waits on a new thread: stages that block every thread of a pool don't delay the deadline.
public struct ThreadTimer: DeadlineTimer {
    /// A timer without state: each wait has its own thread.
    public init() {}

    /// Calls `body` once after `duration`, on a new thread.
    public func schedule(
        after duration: Duration, _ body: @escaping @Sendable () -> Void
    ) -> @Sendable () -> Void {
        let cancelled = DispatchSemaphore(value: 0)
        DedicatedThread.run {
            if cancelled.wait(timeout: .now() + duration.dispatchInterval) == .timedOut { body() }
        }
        return { cancelled.signal() }
    }
}

extension DeadlineTimer {
    /// Runs work in a task that is cancelled when its time is up, or when the caller is cancelled. It returns when the work
    /// ends, which must then end at once.
    ///
    /// - Throws: what the work throws.
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
