/// State behind a lock that ends once: exactly one caller of ``end()`` gets it, however many threads call.
///
/// A handler that must be called exactly once is kept in such a state:
/// ```
/// let waiting = EndingOnce(handler)
/// waiting.end()?(result)          // the first caller calls the handler, every later one does nothing
/// ```
package final class EndingOnce<State: Sendable>: Sendable {
    private let state: Locked<State?>

    package init(_ state: State) {
        self.state = Locked(state)
    }

    /// The state as it is now; nil after the end.
    package var current: State? { state.withLock { $0 } }

    /// Changes the state, unless it has ended.
    ///
    /// - Returns: false after the end; `change` isn't called then.
    @discardableResult
    package func update(_ change: @Sendable (inout State) -> Void) -> Bool {
        state.withLock { state in
            guard var current = state.take() else { return false }
            change(&current)
            state = current
            return true
        }
    }

    /// Ends the state.
    ///
    /// - Returns: the last state to the first caller, nil to every later one.
    package func end() -> State? {
        state.withLock { $0.take() }
    }
}
