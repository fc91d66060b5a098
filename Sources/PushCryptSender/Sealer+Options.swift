public import PushCryptCore

extension Sealer {
    /// What a caller may choose for each push.
    public struct Options: Sendable {
        /// How far the message is filled up, so that its length says less.
        public var padding: PaddingPolicy
        /// The most bytes of the whole payload: 4096, the limit of APNs, or less.
        public var limitInBytes: Int
        /// How long the message may be shown: 1 second to 30 days.
        public var expiresAfterInSeconds: Int64
        /// Names of `aps` members that are copied to the outside, where everybody on the way can read them: `badge`,
        /// `sound`, `interruption-level`, `relevance-score`, `thread-id`, ... The inner payload stays complete.
        ///
        /// Without being named, `content-available` is copied, and a sound shows as `"sound": "default"`.
        public var exposed: [String]
        /// The name of what is sent, 1 to 255 bytes: then the message's id follows from it and from the recipient.
        ///
        /// For work that may be done twice, as a task that is tried again: the device shows the first of the pushes and
        /// takes the others for repeats. So a campaign has one push for each recipient: of two different ones, the
        /// second is never shown. Who can seal to a device, because its public key is known and it pins no sender, and
        /// knows the name, could use up the id: don't let it be guessed there.
        /// A device forgets an id when the message's time is over; a copy that was sealed weeks later and held back until
        /// then would be shown again, until its own end: let campaigns expire soon.
        ///
        /// nil: a random id.
        public var campaign: String?

        public init(
            padding: PaddingPolicy = .multiple(of: 128), limitInBytes: Int = 4096,
            expiresAfterInSeconds: Int64 = 30 * 86_400, exposed: [String] = [], campaign: String? = nil
        ) {
            self.padding = padding
            self.limitInBytes = limitInBytes
            self.expiresAfterInSeconds = expiresAfterInSeconds
            self.exposed = exposed
            self.campaign = campaign
        }

        package func check() throws(SealError) {
            guard (1...PayloadBudget.apnsLimitInBytes).contains(limitInBytes) else {
                throw SealError(.invalidOption, "the limit is 1 to \(PayloadBudget.apnsLimitInBytes) bytes")
            }
            guard (1...MessageHeader.windowInSeconds).contains(expiresAfterInSeconds) else {
                throw SealError(.invalidOption, "a message expires after 1 second to 30 days")
            }
            for name in exposed where ["", "alert", "mutable-content"].contains(name) {
                throw SealError(.invalidOption, "aps.\(name) can't be exposed: the outside has its own")
            }
            let byteCounts = MessageHeader.campaignByteCounts
            guard campaign.map({ byteCounts.contains($0.utf8.count) }) ?? true else {
                throw SealError(.invalidOption, "a campaign's name has 1 to \(byteCounts.upperBound) bytes of UTF-8")
            }
        }
    }
}
