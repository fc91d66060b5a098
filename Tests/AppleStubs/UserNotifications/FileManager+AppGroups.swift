public import Foundation

extension FileManager {
    /// On Apple's systems part of Foundation: nil for a group that the entitlements don't name. Here a group is there when
    /// its folder is.
    public func containerURL(forSecurityApplicationGroupIdentifier groupIdentifier: String) -> URL? {
        let folder = stubAppGroup(groupIdentifier)
        return fileExists(atPath: folder.path) ? folder : nil
    }

    /// For tests: where a group's folder is to be, for this process alone.
    public func stubAppGroup(_ identifier: String) -> URL {
        let process = ProcessInfo.processInfo.processIdentifier
        return temporaryDirectory.appendingPathComponent("pushcrypt-\(process)-\(identifier)", isDirectory: true)
    }
}
