import PushCryptPrimitives

/// A value that threads share and wait for: a POSIX mutex with its condition variable.
@safe
final class Monitor<State: Sendable>: @unchecked Sendable {
    // Unchecked because of these three: `state` is used with the mutex locked only.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var state: State

    init(_ state: State) {
        self.state = state
        unsafe mutex.initialize(to: pthread_mutex_t())
        unsafe condition.initialize(to: pthread_cond_t())
        let results = unsafe (pthread_mutex_init(mutex, nil), pthread_cond_init(condition, nil))
        precondition(results == (0, 0), "no mutex: error \(results)")
    }

    deinit {
        unsafe pthread_cond_destroy(condition)
        unsafe pthread_mutex_destroy(mutex)
        unsafe condition.deallocate()
        unsafe mutex.deallocate()
    }

    /// Changes the value and wakes all who wait.
    func change<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer {
            unsafe pthread_cond_broadcast(condition)
            unsafe pthread_mutex_unlock(mutex)
        }
        return try body(&state)
    }

    /// Waits until `take` finds what it looks for, which is then changed as by ``change(_:)``.
    func wait<Result>(_ take: (inout State) throws -> Result?) rethrows -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        while true {
            if let result = try take(&state) {
                unsafe pthread_cond_broadcast(condition)
                return result
            }
            unsafe pthread_cond_wait(condition, mutex)
        }
    }
}
