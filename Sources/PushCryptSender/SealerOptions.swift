public import PushCryptCore

extension Sealer {
    /// Settings that can differ for each push. A sealer has options for all of its pushes, and a call can change them for one
    /// push.
    public struct Options: Sendable {
        /// The padding, which hides the message's length.
        public var padding: PaddingPolicy
        /// The limit for the whole payload as the carrier brings it: at most 4096, the limit of APNs; nil for 4096 less what the
        /// carrier adds.
        public var limitInBytes: Int?
        /// The way of the push to the device, which the app must name too.
        public var carrier: Carrier
        /// The identifier `apns-collapse-id`, at most 64 bytes, by which a later push replaces this one on the screen; nil for
        /// none. APNs and every relay can read it.
        public var collapseID: String?
        /// The time until the message expires: 1 second to 30 days, or at most the flight of a recipient with a device set.
        /// Fractions of a second are dropped. nil for the longest time that the recipient allows.
        public var expiresAfter: Duration?
        /// Names of `aps` members that are also sent unencrypted, where APNs and every relay can read them: `badge`,
        /// `sound`, `interruption-level`, `relevance-score`, `thread-id`, ... At most 32 names, each 1 to 64 characters of
        /// `[A-Za-z0-9_-]`.
        ///
        /// Each named member must be in the payload and have its type in APNs: `badge` is a nonnegative integer,
        /// `interruption-level` one of Apple's four levels, and so on. A member that this version doesn't know is a
        /// string, a number or a boolean. Otherwise sealing throws `notExposable`.
        ///
        /// Two hints are always unencrypted: the integer 1 of `content-available`, and `"sound": "default"` for a payload
        /// with any sound.
        public var exposed: [String]
        /// The name of a campaign, 1 to 255 bytes, from which the message's id is derived with the recipient; nil for a
        /// random id.
        ///
        /// Use it for work that may be repeated, such as a retried task: the device shows the first push with an id and
        /// ignores the others. So a campaign has one push for each recipient. If the recipient has neither a psk nor a
        /// shared key, and pins no sender, everyone who knows its public key and the name could use the id first. Then
        /// the name must not be guessable.
        /// A device forgets an id when the message expires. A copy that is sealed weeks later would be shown again, so let
        /// campaigns expire soon.
        public var campaign: String?
        /// The ids of earlier pushes to take back: the device removes their notifications, and doesn't show them if they
        /// arrive later. The push has its own alert, so it replaces them. At most 16; see ``SealedPush/id`` and
        /// `Recipient.messageID(ofCampaign:)`.
        ///
        /// Like ``isQuiet``, ``badgeIncrement`` and an avatar it requires a signed push, or a recipient with a psk or a
        /// shared key. Otherwise sealing throws `notAuthenticated`, because everyone with the public key could do the same.
        /// The push takes back only pushes that had no proof that it lacks, and that a key of the same set has signed: an
        /// unsigned one can't take back a signed one, nor one sender another's.
        public var retractedIDs: [String]
        /// Whether the push isn't shown where the app may suppress notifications, and is shown passively and silently
        /// elsewhere. It can't have attachments or an offloaded payload, and exposes no sound.
        public var isQuiet: Bool
        /// The number that the device adds to the app's badge, -999 to 999; nil for none. The payload must not have a badge.
        public var badgeIncrement: Int?
        /// What to do with a payload that doesn't fit.
        public var oversize: OversizePlan
        /// The lowest suite of a recipient's key; nil for no minimum. Suites 3 and 4 rank above 1 and 2, so `xWing` demands keys
        /// that resist quantum computers. Sealing to a lower key throws `suiteTooLow`; other recipients get their pushes.
        public var minimumSuite: Suite?
        /// Whether sealing to a shared key itself, and not to the key of a device, throws `deviceMissing`: everyone who has a shared
        /// key can open what is sealed to it. Set it if your devices have keys of their own.
        public var requiresDevice: Bool
        /// Whether sealing to a device with day keys throws `noDayKey` if its set has none for today. If false, the push is sealed to
        /// the key of the device's record, which opens for longer, and ``SealedPush/usesLastResortKey`` is true.
        public var requiresDayKey: Bool

        /// Makes options; the parameters are the properties of the same names. Sealing checks the values.
        public init(
            padding: PaddingPolicy = .multiple(of: 128), limitInBytes: Int? = nil, carrier: Carrier = .apns,
            expiresAfter: Duration? = nil, exposed: [String] = [], campaign: String? = nil,
            collapseID: String? = nil, retractedIDs: [String] = [], isQuiet: Bool = false, badgeIncrement: Int? = nil,
            oversize: OversizePlan = .refuse, minimumSuite: Suite? = nil, requiresDevice: Bool = false,
            requiresDayKey: Bool = false
        ) {
            self.padding = padding
            self.limitInBytes = limitInBytes
            self.carrier = carrier
            self.collapseID = collapseID
            self.expiresAfter = expiresAfter
            self.exposed = exposed
            self.campaign = campaign
            self.retractedIDs = retractedIDs
            self.isQuiet = isQuiet
            self.badgeIncrement = badgeIncrement
            self.oversize = oversize
            self.minimumSuite = minimumSuite
            self.requiresDevice = requiresDevice
            self.requiresDayKey = requiresDayKey
        }

        /// The header's extras of a push with these options.
        func extras(
            attachments: [AttachmentReference], offload: OffloadReference?, isSelfTest: Bool
        ) -> MessageExtras {
            MessageExtras(
                attachments: attachments, offload: offload, isSelfTest: isSelfTest, retractedIDs: retractedIDs,
                isQuiet: isQuiet, badgeIncrement: badgeIncrement)
        }

        package func check() throws(SenderError) {
            guard (1...PayloadBudget.apnsLimitInBytes).contains(byteLimit) else {
                throw SenderError(.invalidOption, "the limit is 1 to \(PayloadBudget.apnsLimitInBytes) bytes")
            }
            guard expiresAfter.map({ (1...MessageHeader.windowInSeconds).contains($0.components.seconds) }) ?? true
            else {
                throw SenderError(.invalidOption, "a message expires after 1 second to 30 days")
            }
            try checkExposed()
            if let collapseID {
                guard (1...64).contains(collapseID.utf8.count), collapseID.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F })
                else { throw SenderError(.invalidOption, "a collapse id has 1 to 64 characters of ASCII") }
                guard carrier != .expo else {
                    throw SenderError(
                        .invalidOption, "the request to the service of the carrier expo has no collapse id")
                }
            }
            if let campaign { try MessageHeader.checkCampaign(campaign) }
            if let flaw = extras(attachments: [], offload: nil, isSelfTest: false).flaw {
                throw SenderError(.invalidOption, flaw)
            }
        }

        var byteLimit: Int { limitInBytes ?? PayloadBudget.apnsLimitInBytes - carrier.reservedByteCount }

        private static let maximumExposedCount = 32

        /// Runs before any name is looked up in a payload: the names may be untrusted, as in the lines of a batch.
        private func checkExposed() throws(SenderError) {
            guard exposed.count <= Self.maximumExposedCount else {
                throw SenderError(.invalidOption, "at most \(Self.maximumExposedCount) members are exposed by name")
            }
            for name in exposed {
                guard (1...64).contains(name.utf8.count),
                    name.utf8.allSatisfy({ $0.isAlphanumeric || $0.isOne(of: "_-") })
                else {
                    throw SenderError(
                        .invalidOption, "the name of an exposed member is 1 to 64 characters of A-Z a-z 0-9 _ -")
                }
                guard name != "sound" || !isQuiet else {
                    throw SenderError(.invalidOption, "aps.sound can't be exposed: a quiet push makes no sound")
                }
                guard name != "alert", name != "mutable-content" else {
                    throw SenderError(.invalidOption, "aps.\(name) can't be exposed: the outer payload has its own")
                }
            }
        }
    }
}
