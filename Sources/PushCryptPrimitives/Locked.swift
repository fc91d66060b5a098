#if canImport(os)
package import os

/// A value behind a lock.
package typealias Locked = OSAllocatedUnfairLock

extension OSAllocatedUnfairLock where State: Sendable {
    package init(_ state: State) {
        self.init(initialState: state)
    }
}
#else
import Synchronization

/// A value behind a lock.
package final class Locked<State: Sendable>: Sendable {
    private let mutex: Mutex<State>

    package init(_ state: State) {
        mutex = Mutex(state)
    }

    package func withLock<Result: Sendable>(_ body: @Sendable (inout State) -> Result) -> Result {
        mutex.withLock { state in body(&state) }
    }
}
#endif
