public import Foundation

#if !canImport(Darwin)
import UserNotifications
#endif

/// The folder that the app and its extension share.
public struct AppGroup: Hashable, Sendable {
    /// The folder itself.
    public let folder: URL

    /// - Parameter identifier: `group.` and what follows it in the entitlements of both targets.
    /// - Throws: ``ExtensionSetupError`` with `notEntitled` where the entitlements of the running target don't name the group;
    ///   a Mac doesn't look.
    public init(_ identifier: String) throws {
        let manager = FileManager.default
        guard let folder = manager.containerURL(forSecurityApplicationGroupIdentifier: identifier) else {
            throw ExtensionSetupError(.notEntitled, "the entitlements don't name the app group \(identifier)")
        }
        self.folder = folder
    }

    /// For tests, and for systems without app groups.
    public init(folder: URL) {
        self.folder = folder
    }

    /// Where a file of that name is, as `FileBootMarker` and others want it.
    public func path(of name: String) -> String {
        folder.appendingPathComponent(name).path
    }
}
