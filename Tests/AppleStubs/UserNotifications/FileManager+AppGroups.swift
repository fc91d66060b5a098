public import Foundation

extension FileManager {
    /// The folder of an app group. On Apple's systems Foundation has this function, which returns nil for a group that the
    /// entitlements don't name; here it returns nil if the folder doesn't exist.
    public func containerURL(forSecurityApplicationGroupIdentifier groupIdentifier: String) -> URL? {
        let folder = stubAppGroup(groupIdentifier)
        return fileExists(atPath: folder.path) ? folder : nil
    }

    /// The path for a group's folder, for tests. Only this process uses it.
    public func stubAppGroup(_ identifier: String) -> URL {
        let process = ProcessInfo.processInfo.processIdentifier
        return temporaryDirectory.appendingPathComponent("pushcrypt-\(process)-\(identifier)", isDirectory: true)
    }
}
