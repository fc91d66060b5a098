import NIOConcurrencyHelpers

/// Delays all deliveries to one server while it is busy or can't be reached.
final class Gate: Sendable {
    private struct State {
        var failures = 0
        var opensAt: Int64 = 0
        var tokenRefusal: String?
    }

    private let backoff: Backoff
    private let state = NIOLockedValueBox(State())

    init(_ backoff: Backoff) { self.backoff = backoff }

    func isOpen(at time: Int64) -> Bool { state.withLockedValue { $0.opensAt <= time } }

    /// Why the server refuses the provider token; nil since it has accepted a push.
    var tokenRefusal: String? { state.withLockedValue { $0.tokenRefusal } }

    func tokenRefused(_ reason: String) { state.withLockedValue { $0.tokenRefusal = reason } }

    func succeeded() {
        state.withLockedValue { state in
            state.failures = 0
            state.tokenRefusal = nil
        }
    }

    /// Closes the gate. Answers to requests that were sent together count once.
    ///
    /// - Returns: when it opens.
    func close(at time: Int64, requested: Int64? = nil) -> Int64 {
        state.withLockedValue { state in
            let isNew = state.opensAt <= time
            if isNew { state.failures += 1 }
            let opensAt = time + backoff.wait(afterFailures: state.failures, requested: requested)
            state.opensAt = isNew ? opensAt : max(state.opensAt, requested == nil ? 0 : opensAt)
            return state.opensAt
        }
    }
}
