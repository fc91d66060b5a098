public import Foundation

/// A folder for the files of a test, which is removed with the object.
public final class TemporaryFolder: Sendable {
    /// Its path.
    public let path: String

    /// Makes a folder that only its owner can read.
    public init() throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("Tests." + UUID().uuidString).path
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Writes a file, in place of an earlier one.
    ///
    /// - Returns: its path.
    @discardableResult
    public func write(_ contents: some DataProtocol, to name: String, mode: Int = 0o600) throws -> String {
        let file = "\(path)/\(name)"
        try Data(contents).write(to: URL(fileURLWithPath: file), options: .atomic)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
        return file
    }
}
