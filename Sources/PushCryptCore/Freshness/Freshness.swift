/// Whether a message is of now (PROTOCOL section 5).
///
/// ```
/// now = max(clock, H - 10 min)          H: the highest iat accepted so far
/// refuse when exp has passed, or iat is more than 10 min ahead of now, or older than the window
/// ```
/// A clock set back doesn't reopen the past.
package enum Freshness {
    /// How far clocks may differ, in seconds.
    package static let toleranceInSeconds: Int64 = 600

    /// - Throws: `FailureClass`: `expired` or `notYetValid`.
    package static func check(
        _ header: MessageHeader, clock: UnixTime, highestIssuedAt: UnixTime?
    ) throws(FailureClass) {
        let now = highestIssuedAt.map { max(clock, $0 - toleranceInSeconds) } ?? clock
        if header.issuedAt > now + toleranceInSeconds { throw .notYetValid }
        if header.expiresAt <= now || header.issuedAt < now - MessageHeader.windowInSeconds { throw .expired }
    }
}
