public import PushCryptExtension
import PushCryptPrimitives

/// A timer whose time comes when the test says so: a limit of 30 seconds takes none.
public final class ManualTimer: DeadlineTimer {
    private struct Wait {
        let number: Int
        let duration: Duration
        let body: @Sendable () -> Void
    }

    private struct State {
        var durations: [Duration] = []
        var cancelCount = 0
        var pending: [Wait] = []
    }

    private let state = Locked(State())
    private let ignoresCancellation: Bool

    /// - Parameter ignoresCancellation: for a timer that was about to fire when it was cancelled.
    public init(ignoresCancellation: Bool = false) {
        self.ignoresCancellation = ignoresCancellation
    }

    /// What was asked for, in order.
    public var durations: [Duration] { state.withLock { $0.durations } }
    public var cancelCount: Int { state.withLock { $0.cancelCount } }
    public var isPending: Bool { state.withLock { !$0.pending.isEmpty } }

    public func schedule(
        after duration: Duration, _ body: @escaping @Sendable () -> Void
    ) -> @Sendable () -> Void {
        let number = state.withLock { state in
            state.durations.append(duration)
            state.pending.append(Wait(number: state.durations.count, duration: duration, body: body))
            return state.durations.count
        }
        return { [self] in
            state.withLock { [ignoresCancellation] state in
                state.cancelCount += 1
                if !ignoresCancellation { state.pending.removeAll { $0.number == number } }
            }
        }
    }

    /// Time is up for the first that waits, or the first of those that wait so long; at most once for each, and not after a
    /// cancellation.
    public func fire(_ duration: Duration? = nil) {
        let wait = state.withLock { state in
            state.pending.firstIndex { duration == nil || $0.duration == duration }.map { state.pending.remove(at: $0) }
        }
        wait?.body()
    }
}
