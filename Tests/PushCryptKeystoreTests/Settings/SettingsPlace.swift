import Foundation
import PushCryptFiles
import PushCryptTestSupport
import Testing

@testable import PushCryptKeystore

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#endif

/// A temporary folder in place of the root folder, with an environment.
struct SettingsPlace {
    let folder: TemporaryFolder
    var variables: [String: String] = [:]

    init() throws { folder = try TemporaryFolder() }

    var context: SettingsContext {
        var context = SettingsContext()
        context.variable = { [variables] in variables[$0] }
        context.root = folder.path
        return context
    }

    static let isRoot = FileSystem.ownUser == 0
    /// A user who is neither root nor the one of this process.
    static let otherUser: UInt32 = 65_533

    func path(_ name: String) -> String { "\(folder.path)/\(name)" }

    /// Writes a file and makes the folders above it, which others can't write.
    @discardableResult
    func write(_ text: String, to name: String, mode: Int = 0o644) throws -> String {
        let path = path(name)
        try FileSystem.makeFolders(FileSystem.parent(of: path))
        guard mode & 0o100 != 0 else {
            try FileSystem.replace(path, with: Array(text.utf8), mode: mode)
            return path
        }
        // Not written by this process: while a child of another test starts, it has all descriptors, and a program that is open
        // for writing doesn't run.
        try FileSystem.replace("\(path).draft", with: Array(text.utf8))
        try #require(ChildProcess(executable: "/bin/cp", arguments: ["\(path).draft", path]).run() == .exit(0))
        try FileSystem.setMode(mode, of: path)
        FileSystem.removeFile("\(path).draft")
        return path
    }

    func link(_ name: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(atPath: path(name), withDestinationPath: target)
    }

    func giveAway(_ name: String) throws {
        try #require(unsafe lchown(path(name), Self.otherUser, Self.otherUser) == 0)
    }

    func setMode(_ mode: Int, of name: String) throws {
        try #require(unsafe chmod(path(name), mode_t(mode)) == 0)
    }

    func settings(_ json: String) throws -> Settings {
        try Settings(json: Array(json.utf8), path: path("etc/pushcrypt.json"), context)
    }

    func snapshot() throws -> [String: String] {
        let names = FileManager.default.enumerator(atPath: folder.path)?.allObjects.compactMap { $0 as? String } ?? []
        return try Dictionary(
            uniqueKeysWithValues: names.map { name in
                let mode = String(try folder.mode(of: name) ?? 0, radix: 8)
                let isFolder = FileSystem.isFolder(path(name))
                return (name, "\(mode) \(isFolder ? [] : try FileSystem.readFile(path(name)))")
            })
    }
}
