import Dispatch

/// Calls back once after a while; tests put their own in place of time.
public protocol DeadlineTimer: Sendable {
    /// - Returns: call it to give the wait up.
    func schedule(after duration: Duration, _ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void
}

/// Waits on a thread that nothing else uses: a stage that blocks a pool's threads doesn't delay the deadline.
public struct ThreadTimer: DeadlineTimer {
    public init() {}

    public func schedule(
        after duration: Duration, _ body: @escaping @Sendable () -> Void
    ) -> @Sendable () -> Void {
        let cancelled = DispatchSemaphore(value: 0)
        let (seconds, attoseconds) = duration.components
        let nanoseconds = Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
        DispatchQueue(label: "pushcrypt.deadline", qos: .userInitiated).async {
            if cancelled.wait(timeout: .now() + .nanoseconds(nanoseconds)) == .timedOut {
                body()
            }
        }
        return { cancelled.signal() }
    }
}
