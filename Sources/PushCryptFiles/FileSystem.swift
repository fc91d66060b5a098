import PushCryptPrimitives

/// What callers do who know a path and need no open ``Folder``.
package enum FileSystem {
    /// The whole file; links are followed, and pipes and devices are read, too.
    ///
    /// - Throws: `FileError` with `notFound`, `noPermission`, `notAFile` for a folder, `tooLong` for more than 16 MiB.
    package static func readFile(_ path: String) throws(FileError) -> [UInt8] {
        let file = try OpenFile(path, waiting: true)
        guard try file.status().kind != .folder else {
            throw FileError(.notAFile, path, "\(path) is a folder; a key file is needed here")
        }
        return try file.readAll()
    }

    /// Whether there is anything of that name, be it a link to nothing.
    package static func exists(_ path: String) -> Bool { FileStatus(path) != nil }

    /// Whether there is a folder, or a link to one.
    package static func isFolder(_ path: String) -> Bool {
        FileStatus(path, followingLinks: true)?.kind == .folder
    }

    /// The names in a folder, or in one that a link points to.
    package static func names(in path: String) throws(FileError) -> [String] {
        try Folder(path, followingLinks: true).names()
    }

    /// Makes the folder and those above it, for the owner alone.
    package static func makeFolders(_ path: String) throws(FileError) {
        guard !path.isEmpty, !isFolder(path) else { return }
        try makeFolders(parent(of: path))
        try Folder.makeIfMissing(path)
    }

    package static func makeFolder(_ path: String) throws(FileError) {
        try folder(of: path).makeFolder(name(of: path))
    }

    /// Writes a file in one step: a crash leaves the old one or the new one, never a part.
    package static func replace(_ path: String, with bytes: [UInt8], mode: Int = 0o600) throws(FileError) {
        try folder(of: path).replace(name(of: path), with: bytes, mode: mode)
    }

    /// Removes a folder with the files in it. A link stays, and so does a folder that holds another one.
    package static func removeFolder(_ path: String) {
        try? folder(of: path).removeFolder(name(of: path))
    }

    /// Removes a file if there is one.
    package static func removeFile(_ path: String) {
        unsafe unlink(path)
    }

    /// The folder in which something is to be made; a link to a folder is followed.
    ///
    /// - Throws: `FileError` with `cannotCreate` where there is none.
    package static func folder(of path: String) throws(FileError) -> Folder {
        do throws(FileError) {
            return try Folder(above: path)
        } catch {
            guard error.code == .notFound else { throw error }
            throw FileError(.cannotCreate, path, "can't create \(path): \(error.reason)")
        }
    }

    /// The path without its last part; empty for the current folder.
    package static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "" }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// The last part of a path.
    package static func name(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return path }
        return String(path[path.index(after: slash)...])
    }

    package static let randomNameCharacterCount = 12

    /// A part of a temporary file's name. Not cryptography: the name is to be free, and `O_EXCL` says whether it is.
    package static func randomName() -> String {
        let characters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
        var generator = SystemRandomNumberGenerator()
        return String((0..<randomNameCharacterCount).map { _ in characters.randomElement(using: &generator)! })
    }

    /// The user id that this process acts with.
    package static var ownUser: UInt32 { geteuid() }
}
