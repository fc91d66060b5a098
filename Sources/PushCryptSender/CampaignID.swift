public import PushCryptCore

extension MessageHeader {
    /// - Throws: `SenderError` with `invalidOption`.
    static func checkCampaign(_ name: String) throws(SenderError) {
        guard campaignByteCounts.contains(name.utf8.count) else {
            throw SenderError(
                .invalidOption, "a campaign's name has 1 to \(campaignByteCounts.upperBound) bytes of UTF-8")
        }
    }
}

extension Recipient {
    /// Returns the id of a campaign's push to this recipient, for ``Sealer/Options/retractedIDs``. Every host computes the
    /// same id.
    ///
    /// - Parameter campaign: the name that ``Sealer/Options/campaign`` had, 1 to 255 bytes.
    /// - Returns: 16 bytes as 22 characters of base64url, as in ``SealedPush/id``.
    /// - Throws: `SenderError` with `invalidOption`.
    public func messageID(ofCampaign campaign: String) throws(SenderError) -> String {
        try MessageHeader.checkCampaign(campaign)
        return Base64URL.encode(MessageHeader.id(campaign: campaign, recipient: self))
    }
}
