public import PushCryptCore

/// Remembers which messages were shown (PROTOCOL section 5), for one reader: the extension and the app each have one.
public protocol ReplayGuard: Sendable {
    /// H: the highest `iat` accepted so far; nil before the first.
    func highestIssuedAt() throws -> UnixTime?

    /// Checks and claims in one transaction. A claim lapses after 60 seconds, so that a message whose process was killed
    /// before it was shown isn't lost.
    ///
    /// - Parameters:
    ///   - messageID: 22 characters of base64url.
    ///   - time: now.
    /// - Returns: false for a message that was seen, is claimed by somebody, or is too old to tell.
    func claim(_ messageID: String, issuedAt: UnixTime, at time: UnixTime) throws -> Bool

    /// The content was handed to the system: the claim lasts.
    func markSeen(_ messageID: String) throws
}
