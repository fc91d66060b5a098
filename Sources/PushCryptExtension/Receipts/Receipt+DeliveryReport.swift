public import PushCryptCore

extension Receipt {
    /// Creates the receipt of a report.
    ///
    /// - Throws: `CryptoError` if no random bytes for an id are available.
    public init(_ report: DeliveryReport) throws {
        try self.init(
            messageID: report.messageID, pushID: report.pushID, failure: report.failure, time: report.time,
            kid: report.kid, skid: report.skid, isSuppressed: report.isSuppressed, isSelfTest: report.isSelfTest)
    }
}
