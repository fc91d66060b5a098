/// The name and the time limit of a stage.
public protocol DeliveryStage: Sendable {
    /// For diagnostics; nothing about the content.
    var name: String { get }

    /// How long it may take at most; nil for as long as the session has.
    var timeLimit: Duration? { get }
}

extension DeliveryStage {
    /// The name of the type.
    public var name: String { "\(Self.self)" }
    /// No limit but the session's.
    public var timeLimit: Duration? { nil }
}

/// Something that works on a notification after it was opened and verified: a look-up of a contact's name, a suffix to
/// the title, a summary.
///
/// Stages run one after the other. What a stage returns is the best content so far: it is shown even if a later stage
/// throws, hangs or runs out of time. A stage never sees content that wasn't restored.
public protocol ContentStage: DeliveryStage {
    /// - Parameters:
    ///   - content: the content of the push with the changes of earlier stages.
    ///   - push: what was opened.
    /// - Returns: the content from here on; content without text is thrown away.
    /// - Throws: anything: the content stays as it was, and the stage is counted as failed. The task is cancelled when
    ///   the session's time is up; a later result is not used.
    func process(_ content: NotificationContent, of push: OpenedPush) async throws -> NotificationContent
}

/// Something that works on a notification that wasn't sealed, in an app that shows such pushes too; see
/// ``ExtensionConfiguration/UnsealedPolicy/shown(stages:)``.
///
/// Its content is not authenticated: everyone who may push to the device can write it. A ``ContentStage``, which gets
/// what was opened and verified, never runs on it, and nothing that it names is fetched by the library.
public protocol UnsealedStage: DeliveryStage {
    /// - Parameter content: the whole push as it came, with the changes of earlier stages.
    /// - Returns: the content from here on; content without text is thrown away.
    /// - Throws: anything: the content stays as it was, and the stage is counted as failed. The task is cancelled when
    ///   the session's time is up; a later result is not used.
    func process(unsealed content: NotificationContent) async throws -> NotificationContent
}

/// The stage whose work isn't in the content, and why.
public struct StageFailure: Hashable, Sendable {
    /// How a stage ended; more may be added.
    public struct Ending: Error, Hashable, Sendable, CustomStringConvertible {
        /// The name of the ending, as counters store it.
        public let description: String

        /// It threw.
        public static let failed = Ending(description: "failed")
        /// Its time limit came, or the session's end.
        public static let timedOut = Ending(description: "timedOut")
        /// It returned content without text.
        public static let emptied = Ending(description: "emptied")
    }

    /// The stage's name.
    public let stage: String
    /// How it ended.
    public let ending: Ending

    /// Makes a failure of its members.
    public init(stage: String, ending: Ending) {
        self.stage = stage
        self.ending = ending
    }
}
