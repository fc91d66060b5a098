import PushCryptPrimitives

extension MessageHeader {
    /// A header with a new random id.
    ///
    /// - Throws: `CryptoError` when the backend has no entropy.
    package static func fresh(
        for recipient: Recipient, issuedAt: UnixTime, expiresAt: UnixTime, extras: MessageExtras = MessageExtras()
    ) throws -> MessageHeader {
        let id = try recipient.backend.randomBytes(count: idByteCount)
        return MessageHeader(id: id, issuedAt: issuedAt, expiresAt: expiresAt, extras: extras)
    }
}
