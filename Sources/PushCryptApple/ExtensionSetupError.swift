/// Why an extension can't be set up. The user doesn't see it: the push's placeholder is shown.
public struct ExtensionSetupError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of failure; more may be added.
    public struct Code: Hashable, Sendable {
        let name: String

        /// The running target's entitlements don't name the app group, or its name is misspelt.
        public static let notEntitled = Code(name: "notEntitled")
        /// `configure()` isn't overridden.
        public static let notConfigured = Code(name: "notConfigured")
    }

    /// The kind of failure.
    public let code: Code
    /// What is missing, for logs.
    public let reason: String

    /// Makes an error of its members.
    public init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    /// The reason.
    public var description: String { reason }
}
