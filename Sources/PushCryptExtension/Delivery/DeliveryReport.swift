public import PushCryptCore

/// What became of one push, for counters and receipts: nothing of its content.
public struct DeliveryReport: Hashable, Sendable {
    /// nil when it was restored whole, and for a push that was let through unsealed, which isn't `isRestored`;
    /// `attachmentFailed` when its text was restored.
    public let failure: FailureClass?
    /// Whether the text that was shown is the one that was sealed.
    public let isRestored: Bool
    /// When the report was made.
    public let time: UnixTime
    /// The key that the payload names; nil where it couldn't be read.
    public let kid: KeyID?
    /// 22 characters of base64url; nil for what couldn't be opened.
    public let messageID: String?
    /// The sender's own name for the push: `push_id` of the inner payload or of its `aps.alert`.
    public let pushID: String?
    /// Whether the sender sealed it to see if the extension works.
    public let isSelfTest: Bool
    /// The stages whose work isn't in the content.
    public let stageFailures: [StageFailure]

    /// Makes a report of its members.
    public init(
        failure: FailureClass?, isRestored: Bool, time: UnixTime, kid: KeyID?, messageID: String?, pushID: String?,
        isSelfTest: Bool, stageFailures: [StageFailure]
    ) {
        self.failure = failure
        self.isRestored = isRestored
        self.time = time
        self.kid = kid
        self.messageID = messageID
        self.pushID = pushID
        self.isSelfTest = isSelfTest
        self.stageFailures = stageFailures
    }
}

extension DeliveryReport {
    init(_ delivery: DeliverySession.Delivery, of payload: [UInt8], _ push: OpenedPush?, at time: UnixTime) {
        self.init(
            failure: delivery.failure, isRestored: delivery.isRestored, time: time,
            kid: push?.kid ?? Opener.kid(of: payload),
            messageID: push?.messageID, pushID: push?.pushID, isSelfTest: push?.isSelfTest ?? false,
            stageFailures: delivery.stageFailures)
    }
}

/// Receives a report of each push, for counters or receipts.
public protocol DeliveryReporter: Sendable {
    /// Called on the session's thread; it must not wait for the network.
    func report(_ report: DeliveryReport)
}
