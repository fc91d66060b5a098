import Dispatch
import PushCryptPrimitives

/// Runs a function once after a duration. Tests use a timer that they control.
public protocol DeadlineTimer: Sendable {
    /// Calls `body` once after `duration`, on any thread.
    ///
    /// - Returns: a function that cancels the wait.
    func schedule(after duration: Duration, _ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void
}

/// A timer that waits on a thread of its own and calls each function on a new thread. So stages that block all threads of a
/// pool don't delay a deadline, and functions that block don't delay each other.
///
/// All timers of a process share the waiting thread. It ends a second after the last wait, because a push has several: creating
/// a thread for each takes longer than to open the push.
public struct ThreadTimer: DeadlineTimer {
    private static let waits = Waits()

    /// Creates a timer; it has no state. The thread starts at the first use.
    public init() {}

    /// Calls `body` once after `duration`, on a new thread.
    public func schedule(after duration: Duration, _ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        let number = Self.waits.add(until: .now() + duration.dispatchInterval, body)
        return { Self.waits.remove(number) }
    }
}

private final class Waits: Sendable {
    private struct Wait: Sendable {
        let end: DispatchTime
        let body: @Sendable () -> Void
    }

    private struct State: Sendable {
        var waits: [Int: Wait] = [:]
        var nextNumber = 0
        /// When the thread looks at the waits next; nil if there is no thread.
        var nextLook: DispatchTime?
        /// When the thread ends; nil if it was not idle at its last look.
        var idleEnd: DispatchTime?
    }

    private static let idleTime = DispatchTimeInterval.seconds(1)
    private let state = Locked(State())
    private let isEarlier = DispatchSemaphore(value: 0)

    func add(until end: DispatchTime, _ body: @escaping @Sendable () -> Void) -> Int {
        let (number, nextLook) = state.withLock { state in
            defer {
                state.nextNumber += 1
                state.nextLook = min(state.nextLook ?? end, end)
                state.idleEnd = nil
            }
            state.waits[state.nextNumber] = Wait(end: end, body: body)
            return (state.nextNumber, state.nextLook)
        }
        guard let nextLook else {
            DedicatedThread.run { [self] in run() }
            return number
        }
        if end < nextLook { isEarlier.signal() }
        return number
    }

    func remove(_ number: Int) {
        // The wait is released without the lock: what it has captured may use a timer when it is released.
        _ = state.withLock { $0.waits.removeValue(forKey: number) }
    }

    private func run() {
        while let next = callDue() { _ = isEarlier.wait(timeout: next) }
    }

    /// - Returns: when the thread looks at the waits again; nil if it is to end.
    private func callDue() -> DispatchTime? {
        let (due, next) = state.withLock { Self.look(&$0, at: .now()) }
        for wait in due { DedicatedThread.run(wait.body) }
        return next
    }

    /// Removes the waits that have ended.
    ///
    /// - Returns: these waits, and the time of the next look; nil if the thread is to end.
    private static func look(_ state: inout State, at now: DispatchTime) -> (due: [Wait], next: DispatchTime?) {
        let due = state.waits.filter { $0.value.end <= now }
        for number in due.keys { state.waits[number] = nil }
        if let next = state.waits.values.map(\.end).min() {
            state.nextLook = next
        } else if let end = state.idleEnd, end <= now {
            state.nextLook = nil
        } else {
            state.idleEnd = state.idleEnd ?? now + idleTime
            state.nextLook = state.idleEnd
        }
        return (Array(due.values), state.nextLook)
    }
}

extension DeadlineTimer {
    /// Runs work in a task that is cancelled after a duration, or when the caller is cancelled. This function returns when the
    /// work returns, so the work must end at once when it is cancelled.
    func limit<Value: Sendable>(
        _ duration: Duration, _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let limited = Locked((task: Task<Value, any Error>?.none, isOver: false))
        let end: @Sendable () -> Void = {
            limited.withLock { limited in
                limited.isOver = true
                return limited.task
            }?.cancel()
        }
        // Both before the work starts: it could otherwise be at its end before it is cancelled.
        let giveUp = schedule(after: duration, end)
        defer { giveUp() }
        return try await withTaskCancellationHandler {
            let task = limited.withLock { limited in
                let task = Task(operation: work)
                if limited.isOver { task.cancel() }
                limited.task = task
                return task
            }
            return try await task.value
        } onCancel: {
            end()
        }
    }
}
