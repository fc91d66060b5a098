public import PushCryptCore

/// The outcome of one push, for counters and receipts, without its content.
public struct DeliveryReport: Hashable, Sendable {
    /// Why the push was not restored completely; `attachmentFailed` if only its text was restored. nil for a complete
    /// push, and for an unsealed push that the app accepts, which isn't `isRestored`.
    public let failure: FailureClass?
    /// Whether the shown text is the sealed text.
    public let isRestored: Bool
    /// The time of the report.
    public let time: UnixTime
    /// The key that the payload names; nil if the payload couldn't be read.
    public let kid: KeyID?
    /// The sender key that the payload names; nil for an unsigned push, and if the payload couldn't be read.
    public var skid: KeyID?
    /// 22 characters of base64url; nil for a push that couldn't be opened.
    public let messageID: String?
    /// The sender's name for the push: `push_id` of the inner payload or of its `aps.alert`.
    public let pushID: String?
    /// Whether the push is a self-test of the sender.
    public let isSelfTest: Bool
    /// Whether nothing was shown, because the app may suppress the push.
    public let isSuppressed: Bool
    /// The stages whose results were not used.
    public let stageFailures: [StageFailure]
    /// The time from the creation of the session to the call of the handler; zero in a report that is made earlier.
    public var duration = Duration.zero
    /// How long the steps took, in their order: `open` (find the key, open, verify, claim), the stages by their names, and
    /// `store` (convert the content and write what must be remembered).
    public var durations: [StepDuration] = []

    /// The version of the extension; nil for a push that the app opened.
    package var version: String?
    /// The notification that is about to be shown, for the app; nil if it isn't restored.
    package var restored: RestoredMark?
    /// The receipt to store; nil if the configuration has no receipts.
    package var receipt: Receipt?

    /// How long a step of a session took.
    public struct StepDuration: Hashable, Sendable {
        /// The name of the step.
        public let name: String
        /// How long it took, by a clock that runs on while the device sleeps.
        public let duration: Duration

        /// Creates a duration.
        public init(name: String, duration: Duration) {
            self.name = name
            self.duration = duration
        }
    }

    /// Creates a report.
    public init(
        failure: FailureClass?, isRestored: Bool, time: UnixTime, kid: KeyID?, messageID: String?, pushID: String?,
        isSelfTest: Bool, isSuppressed: Bool = false, stageFailures: [StageFailure]
    ) {
        self.failure = failure
        self.isRestored = isRestored
        self.time = time
        self.kid = kid
        self.messageID = messageID
        self.pushID = pushID
        self.isSelfTest = isSelfTest
        self.isSuppressed = isSuppressed
        self.stageFailures = stageFailures
    }
}

/// Receives a report of each push, for logs.
public protocol DeliveryReporter: Sendable {
    /// Receives a report on the session's thread. It must not wait for the network. After the content was handed over, the
    /// system may suspend the process at any time, and it ends a suspended process that has a lock of a file in an app
    /// group's folder.
    func report(_ report: DeliveryReport)
}

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
