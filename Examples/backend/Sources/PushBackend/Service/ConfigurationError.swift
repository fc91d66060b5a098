/// Why a service can't be started.
public struct ConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The cause. It contains no secret.
    public let description: String

    init(_ description: String) { self.description = description }
}
