public import Foundation

#if !canImport(Darwin)
import UserNotifications
#endif

/// The folder that the app and its extension share.
public struct AppGroup: Hashable, Sendable {
    /// The path of the folder.
    public let folder: URL

    /// Finds the group's folder.
    ///
    /// - Parameter identifier: the group in the entitlements of both targets, which begins with `group.`.
    /// - Throws: ``ExtensionSetupError`` with `notEntitled` if the running target's entitlements don't name the group; macOS
    ///   doesn't check this.
    public init(_ identifier: String) throws {
        let manager = FileManager.default
        guard let folder = manager.containerURL(forSecurityApplicationGroupIdentifier: identifier) else {
            throw ExtensionSetupError(.notEntitled, "the entitlements don't name the app group \(identifier)")
        }
        self.folder = folder
    }

    /// Uses a given folder, for tests and for systems without app groups.
    public init(folder: URL) { self.folder = folder }

    /// Returns the path of a file or folder in the group's folder.
    public func path(of name: String) -> String { folder.appendingPathComponent(name).path }
}

/// Why an extension can't be set up. The user sees the push's placeholder.
public struct ExtensionSetupError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of failure; more may be added.
    public struct Code: Hashable, Sendable {
        let name: String

        /// The running target's entitlements don't name the app group, or the name is misspelt.
        public static let notEntitled = Code(name: "notEntitled")
        /// The app's resources don't contain a file.
        public static let missingResource = Code(name: "missingResource")
        /// `configure()` isn't overridden.
        public static let notConfigured = Code(name: "notConfigured")
    }

    /// The kind of failure.
    public let code: Code
    /// What failed, for logs.
    public let reason: String

    /// Creates an error.
    public init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    /// The reason.
    public var description: String { reason }
}
