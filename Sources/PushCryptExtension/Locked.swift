#if canImport(os)
import os

/// A value behind a lock.
typealias Locked = OSAllocatedUnfairLock

extension OSAllocatedUnfairLock where State: Sendable {
    init(_ state: State) {
        self.init(initialState: state)
    }
}
#else
import Synchronization

/// A value behind a lock.
final class Locked<State: Sendable>: Sendable {
    private let mutex: Mutex<State>

    init(_ state: State) {
        mutex = Mutex(state)
    }

    func withLock<Result: Sendable>(_ body: @Sendable (inout State) -> Result) -> Result {
        mutex.withLock { state in body(&state) }
    }
}
#endif
