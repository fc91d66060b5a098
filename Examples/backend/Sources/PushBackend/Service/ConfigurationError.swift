/// Why a service can't be started.
public struct ConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The option of `push-service`, without its dashes; for a file, with the path after it.
    public let option: String
    /// The cause. It contains no secret.
    public let reason: String
    /// The option and the reason.
    public var description: String { "--\(option): \(reason)" }

    init(_ option: String, _ reason: String) {
        self.option = option
        self.reason = reason
    }
}
