import PushCryptPrimitives

/// Whether a message is neither too old nor issued in the future (PROTOCOL section 5).
///
/// ```
/// now = max(clock, H - 10 min)          H: the highest iat of an accepted message
/// refuse if exp has passed, or if iat is more than 10 min ahead of now or older than the window
/// ```
/// Because of H, expired messages stay refused after the clock was set back.
package enum Freshness {
    /// The tolerated difference between two clocks, in seconds.
    package static let toleranceInSeconds: Int64 = 600

    /// The time to judge messages and sender keys at.
    package static func now(clock: UnixTime, highestIssuedAt: UnixTime?) -> UnixTime {
        highestIssuedAt.map { max(clock, $0 - toleranceInSeconds) } ?? clock
    }

    /// - Returns: `expired`, `notYetValid`, or nil for a valid time.
    package static func failure(
        issuedAt: UnixTime, expiresAt: UnixTime, clock: UnixTime, highestIssuedAt: UnixTime?
    ) -> FailureClass? {
        let now = now(clock: clock, highestIssuedAt: highestIssuedAt)
        if issuedAt > now + toleranceInSeconds { return .notYetValid }
        return expiresAt <= now || issuedAt < now - MessageHeader.windowInSeconds ? .expired : nil
    }
}
