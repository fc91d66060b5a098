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
        let wait: @Sendable () -> Void = {
            if cancelled.wait(timeout: .now() + .nanoseconds(duration.nanoseconds)) == .timedOut { body() }
        }
        if !OwnThread.start(wait) {
            // A system without threads to give may still have one in a pool.
            DispatchQueue(label: "pushcrypt.deadline", qos: .userInitiated).async(execute: wait)
        }
        return { cancelled.signal() }
    }
}

extension Duration {
    fileprivate var nanoseconds: Int {
        let (seconds, attoseconds) = components
        return Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
    }
}
