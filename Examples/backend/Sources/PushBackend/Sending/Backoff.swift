import NIOConcurrencyHelpers

/// Waiting times that double, with jitter, so that many senders don't try again at once.
struct Backoff: Sendable {
    /// The first wait, in milliseconds.
    var first: Int64 = 500
    /// The longest wait, in milliseconds.
    var longest: Int64 = 60_000
    /// A number from 0 to 1.
    var random: @Sendable () -> Double = { .random(in: 0...1) }

    /// The wait after `count` failures, in milliseconds: between a half and all of `first` · 2^(count - 1).
    ///
    /// - Parameter requested: the shortest wait that the server asks for, in seconds.
    func wait(afterFailures count: Int, requested: Int64? = nil) -> Int64 {
        let doubled = min(first << Int64(min(max(count, 1) - 1, 20)), longest)
        let wait = Int64(Double(doubled) * (0.5 + random() / 2))
        return max(wait, min(requested ?? 0, 86_400) * 1_000)
    }
}

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
