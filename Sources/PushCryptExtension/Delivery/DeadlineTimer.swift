import Dispatch
import PushCryptPrimitives

/// Calls back once after a while; tests put their own in place of time.
public protocol DeadlineTimer: Sendable {
    /// - Returns: call it to give the wait up.
    func schedule(after duration: Duration, _ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void
}

/// Waits on a thread of its own, made at once: stages that block every thread of a pool don't delay the deadline.
public struct ThreadTimer: DeadlineTimer {
    public init() {}

    public func schedule(
        after duration: Duration, _ body: @escaping @Sendable () -> Void
    ) -> @Sendable () -> Void {
        let cancelled = DispatchSemaphore(value: 0)
        OwnThread.startOrQueue {
            if cancelled.wait(timeout: .now() + duration.dispatchInterval) == .timedOut { body() }
        }
        return { cancelled.signal() }
    }
}
