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
        var input = Array("pushcrypt/1 campaign".utf8) + [0]
        appendLengthPrefixed(campaign, to: &input)
        appendLengthPrefixed(recipient.kid.description, to: &input)
        appendLengthPrefixed(recipient.device?.description ?? "", to: &input)
        return Array(try recipient.backend.sha256(input.bytes).prefix(idByteCount))
    }
}
