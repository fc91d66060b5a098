public import PushCryptCore

extension DeliverySession {
    /// The content for the handler, and the outcome of the push.
    public struct Delivery: Sendable {
        /// The content to show. It always has visible text and no keys, unless ``isSuppressed``.
        public internal(set) var content: NotificationContent
        /// Whether `content` is the sealed content. Sealed content without text, such as a key that the app lacks, is
        /// replaced by the app's own text, with the failure `malformed`.
        public let isRestored: Bool
        /// Why `content` is not the complete sealed content; nil if it is, and for an accepted unsealed push. With
        /// `attachmentFailed` and `replayed` the text may have been restored.
        public internal(set) var failure: FailureClass?
        /// Whether the push wasn't sealed and the app accepts such pushes. Its content isn't authenticated.
        public var isUnsealed: Bool { !isRestored && failure == nil }
        /// Whether nothing is shown: `content` is empty. Only an app with the filtering entitlement can do this, see
        /// ``ExtensionConfiguration/hasFilteringEntitlement``.
        public var isSuppressed: Bool { content.isSuppressed }
        /// The stages whose results aren't in `content`.
        public let stageFailures: [StageFailure]
        /// The id of the sealed message; nil if it wasn't opened.
        public internal(set) var messageID: String?
    }

    /// Hands the content to the system.
    public typealias Handler = @Sendable (Delivery) -> Void

    /// Content in the form of the system.
    package struct SystemForm: Sendable {
        let refused: [NotificationContent.Attachment]
        let userInfo: [UInt8]?
        let handOver: Handler

        /// - Parameters:
        ///   - refused: the attachments that the system refuses. The session removes them from the content, and their files.
        ///   - userInfo: `userInfo` as the app will receive it, JSON; nil for that of the content.
        ///   - handOver: hands the content without them to the system. It receives the outcome of the push.
        package init(
            refused: [NotificationContent.Attachment] = [], userInfo: [UInt8]? = nil, handOver: @escaping Handler
        ) {
            self.refused = refused
            self.userInfo = userInfo
            self.handOver = handOver
        }
    }
}

extension DeliverySession.Delivery {
    func with(_ content: NotificationContent) -> DeliverySession.Delivery {
        var delivery = self
        delivery.content = content
        return delivery
    }

    /// The delivery without attachments that the system refuses. They count as attachments that couldn't be fetched.
    func without(_ refused: [NotificationContent.Attachment]) -> DeliverySession.Delivery {
        guard !refused.isEmpty else { return self }
        var delivery = self
        delivery.content.attachments.removeAll(where: refused.contains)
        delivery.content.missingAttachmentCount += refused.count
        if isRestored, failure == nil { delivery.failure = .attachmentFailed }
        return delivery
    }
}
