public import PushCryptCore

extension Sealer {
    /// What a caller may choose for each push.
    public struct Options: Sendable {
        /// How far the message is padded, so that its length says less.
        public var padding: PaddingPolicy
        /// The most bytes of the whole payload: 4096, the limit of APNs, or less.
        public var limitInBytes: Int
        /// How long the message may be shown: 1 second to 30 days.
        public var expiresAfterInSeconds: Int64
        /// Names of `aps` members that are copied to the outside, where APNs and every relay can read them: `badge`,
        /// `sound`, `interruption-level`, `relevance-score`, `thread-id`, ... The inner payload stays complete. At most
        /// 32 names, each 1 to 64 characters of `[A-Za-z0-9_-]`.
        ///
        /// Each named member must be in the payload and have the type that APNs gives it: `badge` is an integer from 0
        /// on, `interruption-level` one of Apple's four levels, and so on. A member that this version doesn't know is a
        /// string, a number or a boolean. Sealing throws `notExposable` for anything else: a payload without a badge is
        /// not sealed with options that expose its badge.
        ///
        /// Two hints are outside without being named: the integer 1 of `content-available`, and `"sound": "default"` for
        /// a payload with any sound.
        public var exposed: [String]
        /// The name of what is sent, 1 to 255 bytes: then the message's id follows from it and from the recipient.
        ///
        /// For work that may be done twice, such as a task that is tried again: the device shows the first of the pushes and
        /// takes the others for repeats. So a campaign has one push for each recipient: of two different ones, the
        /// second is never shown. Anybody who can seal to a device, because its public key is known and it pins no sender,
        /// and knows the name, could use up the id: don't let it be guessed there.
        /// A device forgets an id when the message expires. A copy that was sealed weeks later and held back until then
        /// would be shown again, until it expires itself: let campaigns expire soon.
        ///
        /// nil: a random id.
        public var campaign: String?

        /// Parameters as the properties of the same names. The values are checked when a push is sealed.
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

        package func check() throws(SenderError) {
            guard (1...PayloadBudget.apnsLimitInBytes).contains(limitInBytes) else {
                throw SenderError(.invalidOption, "the limit is 1 to \(PayloadBudget.apnsLimitInBytes) bytes")
            }
            guard (1...MessageHeader.windowInSeconds).contains(expiresAfterInSeconds) else {
                throw SenderError(.invalidOption, "a message expires after 1 second to 30 days")
            }
            try checkExposed()
            let byteCounts = MessageHeader.campaignByteCounts
            guard campaign.map({ byteCounts.contains($0.utf8.count) }) ?? true else {
                throw SenderError(.invalidOption, "a campaign's name has 1 to \(byteCounts.upperBound) bytes of UTF-8")
            }
        }

        private static let maximumExposedCount = 32

        /// Before any name is looked up in a payload: the names may come from outside, as in the lines of a batch.
        private func checkExposed() throws(SenderError) {
            guard exposed.count <= Self.maximumExposedCount else {
                throw SenderError(.invalidOption, "at most \(Self.maximumExposedCount) members are exposed by name")
            }
            for name in exposed {
                guard (1...64).contains(name.utf8.count), name.utf8.allSatisfy(\.isNameCharacter) else {
                    throw SenderError(
                        .invalidOption, "the name of an exposed member is 1 to 64 characters of A-Z a-z 0-9 _ -")
                }
                guard name != "alert", name != "mutable-content" else {
                    throw SenderError(.invalidOption, "aps.\(name) can't be exposed: the outside has its own")
                }
            }
        }
    }
}

extension UInt8 {
    fileprivate var isNameCharacter: Bool {
        switch self {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}
