import PushCryptPrimitives

@testable import PushCryptExtension

/// A timer whose time comes when the test says so.
final class ManualTimer: DeadlineTimer {
    private struct State {
        var durations: [Duration] = []
        var cancelCount = 0
        var body: (@Sendable () -> Void)?
    }

    private let state = Locked(State())
    private let ignoresCancellation: Bool

    /// - Parameter ignoresCancellation: for a timer that was about to fire when it was cancelled.
    init(ignoresCancellation: Bool = false) {
        self.ignoresCancellation = ignoresCancellation
    }

    /// What was asked for.
    var durations: [Duration] { state.withLock { $0.durations } }
    var cancelCount: Int { state.withLock { $0.cancelCount } }
    var isPending: Bool { state.withLock { $0.body != nil } }

    func schedule(after duration: Duration, _ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        state.withLock { state in
            state.durations.append(duration)
            state.body = body
        }
        return { [self] in
            state.withLock { [ignoresCancellation] state in
                state.cancelCount += 1
                if !ignoresCancellation { state.body = nil }
            }
        }
    }

    /// Time is up; at most once, and not after a cancellation.
    func fire() {
        let body = state.withLock { state in
            defer { state.body = nil }
            return state.body
        }
        body?()
    }
}
