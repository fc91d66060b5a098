public import PushCryptCore

/// Remembers which messages were shown (PROTOCOL section 5), for one reader: the extension and the app each have one.
///
/// What it throws keeps no message from being read: the message is shown as if there were no guard.
public protocol ReplayGuard: Sendable {
    /// Checks freshness and claims, in one transaction. A claim lapses after 60 seconds, so that a message whose process
    /// was killed before it was shown isn't lost.
    ///
    /// - Parameters:
    ///   - messageID: 22 characters of base64url.
    ///   - time: now.
    /// - Returns: the claim, or why the message isn't shown: `expired`, `notYetValid`, or `replayed` where it was seen, is
    ///   claimed already, or is too old to tell.
    func claim(
        _ messageID: String, issuedAt: UnixTime, expiresAt: UnixTime, at time: UnixTime
    ) throws -> Result<MessageClaim, FailureClass>

    /// The content was handed to the system: the claim lasts.
    func markSeen(_ claim: MessageClaim) throws

    /// The content wasn't shown: the message may be claimed again at once. Does nothing where the message was seen, or
    /// where another claim has taken this one's place.
    func release(_ claim: MessageClaim) throws
}

/// The right to show a message. One session has it at a time.
public struct MessageClaim: Hashable, Sendable {
    /// 22 characters of base64url.
    public let messageID: String
    public let issuedAt: UnixTime
    /// Tells this claim from others of the same message.
    public let token: Int64

    public init(messageID: String, issuedAt: UnixTime, token: Int64 = .random(in: .min ... .max)) {
        self.messageID = messageID
        self.issuedAt = issuedAt
        self.token = token
    }
}
