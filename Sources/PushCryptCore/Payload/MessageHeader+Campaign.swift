import PushCryptPrimitives

extension MessageHeader {
    /// The bytes that a campaign's name may have.
    package static let campaignByteCounts = 1...255

    /// The id of a campaign's message to one recipient: the same whenever, and wherever, it is sealed again.
    ///
    /// ```
    /// id = first 16 bytes of SHA-256("pushcrypt/1 campaign" || 0x00 || lp16(campaign) || lp16(kid)
    ///                                || lp16(device id or empty))
    /// ```
    /// - Parameter campaign: as many bytes as `campaignByteCounts` says.
    /// - Throws: `CryptoError`.
    package static func id(campaign: String, recipient: Recipient) throws -> [UInt8] {
        try withTemporaryBytes(capacity: 21 + 2 + 255 + 2 + 11 + 2 + 64) { input in
            input.append("pushcrypt/1 campaign")
            input.append(0)
            input.append(lengthPrefixed: campaign)
            input.append(lengthPrefixed: recipient.kid.description)
            input.append(lengthPrefixed: recipient.device?.description ?? "")
            return Array(try recipient.backend.sha256(input.bytes).prefix(idByteCount))
        }
    }
}
