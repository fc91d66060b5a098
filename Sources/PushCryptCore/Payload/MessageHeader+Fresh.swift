import PushCryptPrimitives

extension MessageHeader {
    /// A header with a new random id or, of a campaign, the one that its name gives.
    ///
    /// - Throws: `CryptoError` when the backend has no entropy.
    package static func fresh(
        for recipient: Recipient, campaign: String? = nil, issuedAt: UnixTime, expiresAt: UnixTime,
        extras: MessageExtras = MessageExtras()
    ) throws -> MessageHeader {
        let id =
            try campaign.map { try Self.id(campaign: $0, recipient: recipient) }
            ?? recipient.backend.randomBytes(count: idByteCount)
        return MessageHeader(id: id, issuedAt: issuedAt, expiresAt: expiresAt, extras: extras)
    }
}
