public import Foundation

extension FileManager {
    /// On Apple's systems part of Foundation: nil for a group that the entitlements don't name. Here a group is there when
    /// its folder is, in one of the process's own.
    public func containerURL(forSecurityApplicationGroupIdentifier groupIdentifier: String) -> URL? {
        let folder = stubAppGroups.appendingPathComponent(groupIdentifier, isDirectory: true)
        return fileExists(atPath: folder.path) ? folder : nil
    }

    /// For tests: where the groups are.
    public var stubAppGroups: URL {
        temporaryDirectory.appendingPathComponent(
            "pushcrypt-app-groups-\(ProcessInfo.processInfo.processIdentifier)", isDirectory: true)
    }
}
