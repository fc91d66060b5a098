import PushCryptPrimitives

/// The messages that this process has claimed, whether the claim was written to the file or to memory. The process shows none
/// of them twice, even if the file can't be used or two copies of a message wait for it.
final class ClaimedMessages: Sendable {
    private struct Claimed {
        let token: Int64
        /// The clock's time; nil once the message was seen.
        var time: Int64?
    }

    private struct State {
        var claims: [String: Claimed] = [:]
        /// The ids in the order of their claims, of which the first goes when there are too many.
        var order: [String] = []
    }

    /// More than a process of an extension shows.
    static let limit = 1_000

    private let state = Locked(State())

    /// - Parameter clock: within the protocol's range.
    /// - Returns: false for a message that was seen, or that another session of the process is showing.
    func add(_ claim: MessageClaim, at clock: Int64) -> Bool {
        state.withLock { state in
            if let known = state.claims[claim.messageID] {
                guard let time = known.time, ReplayMemory.hasLapsed(time, at: clock) else { return false }
            } else {
                state.order.append(claim.messageID)
            }
            state.claims[claim.messageID] = Claimed(token: claim.token, time: clock)
            if state.order.count > Self.limit { state.claims[state.order.removeFirst()] = nil }
            return true
        }
    }

    func markSeen(_ claim: MessageClaim) {
        state.withLock { $0.claims[claim.messageID]?.time = nil }
    }

    /// Does nothing if another claim has taken this one's place.
    func remove(_ claim: MessageClaim) {
        state.withLock { state in
            guard state.claims[claim.messageID]?.token == claim.token else { return }
            state.claims[claim.messageID] = nil
            state.order.removeAll { $0 == claim.messageID }
        }
    }
}
