/// Whether the time of a message is now (PROTOCOL section 5).
///
/// ```
/// now = max(clock, H - 10 min)          H: the highest iat that was accepted and is believed
/// refuse when exp has passed, or iat is more than 10 min ahead of now, or older than the window
/// ```
/// A clock set back doesn't reopen the past.
package enum Freshness {
    /// How far clocks may differ, in seconds.
    package static let toleranceInSeconds: Int64 = 600

    /// - Returns: `expired` or `notYetValid`; nil for a message whose time is now.
    package static func failure(
        issuedAt: UnixTime, expiresAt: UnixTime, clock: UnixTime, highestIssuedAt: UnixTime?
    ) -> FailureClass? {
        let now = highestIssuedAt.map { max(clock, $0 - toleranceInSeconds) } ?? clock
        if issuedAt > now + toleranceInSeconds { return .notYetValid }
        return expiresAt <= now || issuedAt < now - MessageHeader.windowInSeconds ? .expired : nil
    }
}
