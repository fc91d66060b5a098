import Testing

/// What happens to the process of an extension in one state space walk.
struct DeliveryScenario: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// How often the system delivers the message, at the same time.
    var copyCount = 1
    /// Whether a stage with a time limit writes a file and changes the title.
    var hasStage = false
    /// Whether the session's deadline and the time limit of the stage may be reached.
    var hasTimers = false
    /// Whether the system calls `serviceExtensionTimeWillExpire`.
    var isWarned = false
    /// Whether the process is suspended for two minutes: the clock moves, and no timer fires for that reason.
    var isSuspended = false
    /// Whether the process is killed.
    var isKilled = false
}
