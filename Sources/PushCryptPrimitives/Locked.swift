#if canImport(os)
import os

/// A value behind a lock. Its users need no `import os`.
package final class Locked<State: Sendable>: Sendable {
    private let lock: OSAllocatedUnfairLock<State>

    package init(_ state: State) {
        lock = OSAllocatedUnfairLock(initialState: state)
    }

    package func withLock<Result: Sendable>(_ body: @Sendable (inout State) throws -> Result) rethrows -> Result {
        try lock.withLock(body)
    }
}
#else
/// A value behind a lock: a POSIX mutex, which the thread sanitizer knows. The sanitizer doesn't recognise
/// `Synchronization.Mutex` as a lock and reports every use.
@safe
package final class Locked<State: Sendable>: @unchecked Sendable {
    // Unchecked because of these two: `state` is used with the mutex locked only.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private var state: State

    package init(_ state: State) {
        self.state = state
        unsafe mutex.initialize(to: pthread_mutex_t())
        let result = unsafe pthread_mutex_init(mutex, nil)
        precondition(result == 0, "no mutex: error \(result)")
    }

    deinit {
        unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deallocate()
    }

    package func withLock<Result: Sendable>(_ body: @Sendable (inout State) throws -> Result) rethrows -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return try body(&state)
    }
}
#endif
