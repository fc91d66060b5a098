import PushCryptPrimitives

/// Operations on paths, for callers that need no open ``Folder``.
package enum FileSystem {
    /// Reads a whole file, pipe or device and follows links.
    ///
    /// - Throws: `FileError` with `notFound`, `noPermission`, `notAFile` for a folder, `tooLong`.
    package static func readFile(
        _ path: String, limitInBytes limit: Int = OpenFile.usualLimitInBytes
    ) throws(FileError) -> [UInt8] {
        try openInput(path).readAll(limitInBytes: limit)
    }

    /// Opens a file, pipe or device for reading and follows links.
    ///
    /// - Throws: as ``readFile(_:limitInBytes:)``, except `tooLong`.
    package static func openInput(_ path: String) throws(FileError) -> OpenFile {
        let file = try OpenFile(path, waiting: true)
        guard try file.status().kind != .folder else {
            throw FileError(.notAFile, path, "\(path) is a folder; a file is needed here")
        }
        return file
    }

    /// Reads a whole file that a search found, and follows links. It refuses a pipe, which may never end, and a device.
    package static func readFoundFile(_ path: String) throws(FileError) -> [UInt8] {
        let file = try OpenFile(path)
        try file.requireFile()
        return try file.readAll()
    }

    /// Whether anything exists at the path, including a dangling symbolic link.
    package static func exists(_ path: String) -> Bool { FileStatus(path) != nil }

    /// Whether the path names a folder or a symbolic link to one.
    package static func isFolder(_ path: String) -> Bool { FileStatus(path, followingLinks: true)?.kind == .folder }

    /// Whether the path names a folder in which this process can make files.
    package static func canChangeFolder(_ path: String) -> Bool {
        unsafe isFolder(path) && access(path, W_OK | X_OK) == 0
    }

    /// - Throws: `FileError` for a folder in which this process can't make files.
    package static func requireChangeable(_ path: String) throws(FileError) {
        guard unsafe access(path, W_OK | X_OK) == 0 else { throw FileError(.write, path) }
    }

    package static func setMode(_ mode: Int, of path: String) throws(FileError) {
        guard unsafe chmod(path, mode_t(mode)) == 0 else { throw FileError(.write, path) }
    }

    /// What a symbolic link contains.
    package static func target(ofLink path: String) throws(FileError) -> String {
        var bytes = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe bytes.withUnsafeMutableBytes { bytes in
            unsafe readlink(path, bytes.baseAddress!.assumingMemoryBound(to: CChar.self), bytes.count)
        }
        guard count >= 0 else { throw FileError(.read, path) }
        return String(decoding: bytes[..<count], as: UTF8.self)
    }

    /// Checks the owner and mode of a file or folder and follows links.
    ///
    /// - Throws: `FileError` with `notFound`, `noPermission`, `foreignOwner`, `looseMode`.
    package static func check(_ path: String, _ rule: FileAccess.Rule) throws(FileError) {
        guard let status = FileStatus(path, followingLinks: true) else { throw FileError(.read, path) }
        try status.access.check(rule, path)
    }

    /// The path with all symbolic links resolved; nil if there is no such file.
    package static func resolvedPath(_ path: String) -> String? {
        guard let resolved = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(resolved) }
        return unsafe String(cString: resolved)
    }

    package static func names(in path: String) throws(FileError) -> [String] {
        try Folder(path, followingLinks: true).names()
    }

    package static func makeFolders(_ path: String) throws(FileError) {
        guard !path.isEmpty, !isFolder(path) else { return }
        try makeFolders(parent(of: path))
        try Folder.makeIfMissing(path)
    }

    /// Writes a file in place of one that may exist. A link to a file is replaced, and its target isn't.
    ///
    /// - Throws: `FileError` with `cannotCreate` also if the path names a folder or a device, or a link to one such as `/dev/stdout`,
    ///   which the file would replace.
    package static func replace(_ path: String, with bytes: [UInt8], mode: Int = 0o600) throws(FileError) {
        try requireFileIfPresent(path)
        try folder(of: path).replace(name(of: path), with: bytes, mode: mode)
    }

    /// Checks, before the work for its content begins, that ``replace(_:with:mode:)`` can write a file. It makes a file of
    /// another name and removes it.
    ///
    /// - Throws: `FileError` with `cannotCreate`, also if the path names a folder, `noPermission`, `noSpace`.
    package static func checkReplaceable(_ path: String) throws(FileError) {
        guard !isFolder(path) else { throw FileError(.cannotCreate, path, "\(path) is a folder; name a file") }
        try requireFileIfPresent(path)
        let (folder, trial) = (try folder(of: path), "\(name(of: path)).new-\(randomName())")
        _ = try folder.makeFile(trial)
        try folder.remove(trial)
    }

    private static func requireFileIfPresent(_ path: String) throws(FileError) {
        let kind = FileStatus(path, followingLinks: true)?.kind ?? .file
        // A stream of this process that is redirected to a file is a link to it.
        let isStream = ["/dev", "/dev/fd", "/proc/self/fd"].contains(parent(of: path))
        guard kind != .file || isStream else { return }
        throw FileError(
            .cannotCreate, path, "\(path) is a folder or a device, which a file would replace; name a file")
    }

    package static func removeFile(_ path: String) { unsafe unlink(path) }

    /// Opens the parent folder of a path that is to be created; a link to a folder is followed.
    ///
    /// - Throws: `FileError` with `cannotCreate` if there is no such folder.
    package static func folder(of path: String) throws(FileError) -> Folder {
        do throws(FileError) {
            return try Folder(above: path)
        } catch {
            guard error.code == .notFound else { throw error }
            throw FileError(.cannotCreate, path, "can't create \(path): \(error.reason)")
        }
    }

    /// The path without its last component; empty for the current folder.
    package static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "" }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    package static func name(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return path }
        return String(path[path.index(after: slash)...])
    }

    package static let randomNameCharacterCount = 12

    /// The random part of a temporary file's name. It need not be unpredictable, because `O_EXCL` refuses a name that is
    /// taken.
    package static func randomName() -> String {
        let characters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
        var generator = SystemRandomNumberGenerator()
        return String((0..<randomNameCharacterCount).map { _ in characters.randomElement(using: &generator)! })
    }

    package static var ownUser: UInt32 { geteuid() }
}
