import PushCryptExtension
import PushCryptPrimitives

/// A timer that a test fires, so that the test doesn't wait.
package final class ManualTimer: DeadlineTimer {
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

    /// - Parameter ignoresCancellation: simulates a timer that fires while it is cancelled.
    package init(ignoresCancellation: Bool = false) { self.ignoresCancellation = ignoresCancellation }
    package var durations: [Duration] { state.withLock { $0.durations } }
    package var cancelCount: Int { state.withLock { $0.cancelCount } }
    package var isPending: Bool { state.withLock { !$0.pending.isEmpty } }

    package func schedule(after duration: Duration, _ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
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

    /// Fires the first pending wait, or the first one with the duration. Each wait fires at most once, and not after a
    /// cancellation.
    package func fire(_ duration: Duration? = nil) {
        let wait = state.withLock { state in
            state.pending.firstIndex { duration == nil || $0.duration == duration }.map { state.pending.remove(at: $0) }
        }
        wait?.body()
    }
}
