public import PushCryptPrimitives

/// The name and the time limit of a stage.
public protocol DeliveryStage: Sendable {
    /// The name in diagnostics. It must not contain content.
    var name: String { get }

    /// How long the stage may take; nil for the rest of the session's time.
    var timeLimit: Duration? { get }
}

extension DeliveryStage {
    /// The default is the name of the type.
    public var name: String { "\(Self.self)" }
    /// The default is nil: only the session's limit applies.
    public var timeLimit: Duration? { nil }
}

/// Changes the content of a push that was opened and verified: looks up a contact's name, adds a suffix to the title,
/// writes a summary.
///
/// Stages run one after the other. The content that a stage returns is shown even if a later stage throws, hangs or runs
/// out of time. A stage never receives content that wasn't restored.
public protocol ContentStage: DeliveryStage {
    /// Returns the changed content of a restored push; content without text is dropped.
    ///
    /// - Parameter content: the content of the push with the changes of earlier stages.
    /// - Throws: any error: the content stays unchanged, and the stage is counted as failed. The task is cancelled when
    ///   the session's time is up; a later result is dropped.
    func process(_ content: NotificationContent, of push: OpenedPush) async throws -> NotificationContent
}

/// The last stage, whose result isn't changed afterwards: ``ExtensionConfiguration/finish``. `FinishingStage` and
/// `CommunicationStage` of `PushCryptApple` return the system's own content object this way.
public protocol FinalStage: DeliveryStage {
    /// Returns the content to show, by the rules of ``ContentStage/process(_:of:)``.
    func finish(_ content: NotificationContent, of push: OpenedPush) async throws -> NotificationContent
}

/// Changes the content of a push that wasn't sealed, in an app that also shows such pushes; see
/// ``ExtensionConfiguration/UnsealedPolicy/shown(stages:)``.
///
/// The content isn't authenticated: everyone who can push to the device can write it. No ``ContentStage`` runs on it, and
/// the library fetches nothing that it names.
public protocol UnsealedStage: DeliveryStage {
    /// Returns the changed content of an unsealed push, by the rules of ``ContentStage/process(_:of:)``.
    ///
    /// - Parameter content: the received content with the changes of earlier stages.
    func process(unsealed content: NotificationContent) async throws -> NotificationContent
}

/// A stage whose result was not used, and the reason.
public struct StageFailure: Hashable, Sendable {
    /// How a stage ended; more may be added.
    public struct Ending: DescribedError, Hashable, Sendable {
        /// The name that the counters store.
        public let description: String

        /// The stage threw an error.
        public static let failed = Ending(description: "failed")
        /// The time limit of the stage or of the session was reached.
        public static let timedOut = Ending(description: "timedOut")
        /// The stage returned content without text.
        public static let emptied = Ending(description: "emptied")
    }

    /// The name of the stage.
    public let stage: String
    /// How the stage ended.
    public let ending: Ending

    /// Creates a failure.
    public init(stage: String, ending: Ending) {
        self.stage = stage
        self.ending = ending
    }
}
