#if canImport(os)
import os

/// A value behind a lock.
package final class Locked<State: Sendable>: Sendable {
    private let lock: OSAllocatedUnfairLock<State>

    package init(_ state: State) { lock = OSAllocatedUnfairLock(initialState: state) }

    package func withLock<Result: Sendable>(_ body: @Sendable (inout State) throws -> Result) rethrows -> Result {
        #if DEBUG
        let observer = ThreadObservation.observer
        observer?.willLock(ObjectIdentifier(self))
        defer { observer?.didUnlock(ObjectIdentifier(self)) }
        #endif
        return try lock.withLock(body)
    }
}
#else
/// A value behind a POSIX mutex. The thread sanitizer doesn't recognise `Synchronization.Mutex` as a lock and reports
/// every use of it.
@safe
package final class Locked<State: Sendable>: @unchecked Sendable {
    // Unchecked because of these variables: `state` is used only while the mutex is locked.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    /// With a byte, because the thread sanitizer mistakes an access to an empty variable for one to the object's first bytes.
    private var state: (value: State, byte: UInt8)

    package init(_ state: State) {
        self.state = (state, 0)
        unsafe mutex.initialize(to: pthread_mutex_t())
        let result = unsafe pthread_mutex_init(mutex, nil)
        precondition(result == 0, "no mutex: error \(result)")
    }

    deinit {
        unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deallocate()
    }

    package func withLock<Result: Sendable>(_ body: @Sendable (inout State) throws -> Result) rethrows -> Result {
        #if DEBUG
        let observer = ThreadObservation.observer
        observer?.willLock(ObjectIdentifier(self))
        defer { observer?.didUnlock(ObjectIdentifier(self)) }
        #endif
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return try body(&state.value)
    }
}
#endif

/// State behind a lock that ends once: ``end()`` returns it to exactly one caller.
///
/// It guards a handler that must be called exactly once:
/// ```
/// let waiting = EndingOnce(handler)
/// waiting.end()?(result)          // only the first caller calls the handler
/// ```
package final class EndingOnce<State: Sendable>: Sendable {
    private let state: Locked<State?>

    package init(_ state: State) { self.state = Locked(state) }

    /// The current state; nil after the end.
    package var current: State? { state.withLock { $0 } }

    /// Calls `change` with the state, or returns false after the end.
    @discardableResult
    package func update(_ change: @Sendable (inout State) -> Void) -> Bool {
        state.withLock { state in
            guard var current = state.take() else { return false }
            change(&current)
            state = current
            return true
        }
    }

    /// Ends the state. Returns it to the first caller, and nil to every later one.
    package func end() -> State? { state.withLock { $0.take() } }
}
