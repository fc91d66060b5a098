/// What every stage says about itself.
public protocol DeliveryStage: Sendable {
    /// For diagnostics; nothing about the content.
    var name: String { get }

    /// How long it may take at most; nil for as long as the session has.
    var timeLimit: Duration? { get }
}

extension DeliveryStage {
    public var name: String { "\(Self.self)" }
    public var timeLimit: Duration? { nil }
}

/// Something that works on a notification after it was opened and verified: a look-up of a contact's name, a suffix to
/// the title, a summary.
///
/// Stages run one after the other. What a stage returns is the best content so far: it is shown even if a later stage
/// throws, hangs or runs out of time. A stage never sees content that wasn't restored.
public protocol ContentStage: DeliveryStage {
    /// - Parameters:
    ///   - content: what the stages before made of the push.
    ///   - push: what was opened.
    /// - Returns: the content from here on; content without text is thrown away.
    /// - Throws: anything: the content stays as it was, and the stage is counted as failed. The task is cancelled when
    ///   the session's time is up; whatever comes later is not used.
    func process(_ content: NotificationContent, of push: OpenedPush) async throws -> NotificationContent
}

/// Why a stage's work isn't in the content.
public struct StageFailure: Hashable, Sendable {
    /// How it ended; more may be added.
    public struct Ending: Error, Hashable, Sendable, CustomStringConvertible {
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
    public let ending: Ending

    public init(stage: String, ending: Ending) {
        self.stage = stage
        self.ending = ending
    }
}
