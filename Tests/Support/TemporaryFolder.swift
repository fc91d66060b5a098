public import Foundation

/// A folder that is removed when the value is freed.
public final class TemporaryFolder: Sendable {
    public let url: URL

    /// - Parameter folder: where it is made.
    public init(in folder: URL = FileManager.default.temporaryDirectory) throws {
        url = folder.resolvingSymlinksInPath()
            .appendingPathComponent("pushcrypt-tests-\(UUID().uuidString)", isDirectory: true)
        try FileManager.default.createDirectory(
            at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    public var path: String { url.path }

    public func file(_ name: String) -> URL {
        url.appendingPathComponent(name, isDirectory: false)
    }

    public func names(in folder: String = "") throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path + "/" + folder).sorted()
    }

    public func mode(of name: String) throws -> Int? {
        let attributes = try FileManager.default.attributesOfItem(atPath: path + "/" + name)
        return (attributes[.posixPermissions] as? NSNumber)?.intValue
    }

    public func setMode(_ mode: Int, of name: String) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path + "/" + name)
    }
}
