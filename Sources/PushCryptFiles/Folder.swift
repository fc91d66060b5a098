import PushCryptPrimitives

/// An open directory. Its files are opened through its descriptor and never by path. So a
/// folder that was checked is the one that is used, even if another user replaces it with another folder or a link.
package final class Folder: Sendable {
    /// The caller's path; empty for the current folder.
    package let path: String
    let descriptor: Int32
    private let followsLinks: Bool

    /// - Parameter followingLinks: whether a symbolic link to a folder is opened.
    /// - Throws: `FileError` with `symbolicLink`, `notFound`, `noPermission`.
    package convenience init(_ path: String, followingLinks: Bool = false) throws(FileError) {
        try self.init(path, opening: path, followingLinks: followingLinks)
    }

    package convenience init(above path: String) throws(FileError) {
        let parent = FileSystem.parent(of: path)
        try self.init(parent, opening: parent.isEmpty ? "." : parent, followingLinks: true)
    }

    private init(
        _ path: String, opening place: String, followingLinks: Bool
    ) throws(FileError) {
        let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | (followingLinks ? 0 : O_NOFOLLOW)
        descriptor = unsafe open(place, flags)
        self.path = path
        followsLinks = followingLinks
        guard descriptor >= 0 else {
            let number = errno
            let isLink = [ELOOP, ENOTDIR].contains(number) && current?.kind == .symbolicLink
            throw isLink ? .isLink(path) : FileError(.read, path, systemError: number)
        }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Makes the folder, mode 0700, unless the name is taken. Its parent must exist.
    ///
    /// - Parameter isProtected: see ``FileProtection``. It is also applied to a folder that exists, if the system permits it:
    ///   an earlier version may have made the folder.
    package static func makeIfMissing(_ path: String, isProtected: Bool = false) throws(FileError) {
        guard unsafe mkdir(path, 0o700) == 0 else {
            guard errno == EEXIST else { throw FileError(.create, path) }
            if isProtected { try? FileProtection.apply(toPath: path) }
            return
        }
        if isProtected { try FileProtection.apply(toPath: path) }
    }

    package func path(of name: String) -> String {
        path.isEmpty || path.hasSuffix("/") ? path + name : path + "/" + name
    }

    // MARK: Status

    package func status() throws(FileError) -> FileStatus {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw FileError(.read, path) }
        return FileStatus(status)
    }

    /// - Returns: the status, of the link itself for a symbolic link; nil if there is nothing of that name.
    package func status(of name: String) -> FileStatus? {
        var status = stat()
        return unsafe fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 ? FileStatus(status) : nil
    }

    package func has(_ name: String) -> Bool { status(of: name) != nil }

    /// - Throws: `FileError` with `foreignOwner`, `looseMode`.
    package func check(_ rule: FileAccess.Rule) throws(FileError) { try status().access.check(rule, path) }

    /// The names in the folder, sorted, including hidden ones and without `.` and `..`.
    ///
    /// - Parameter opened: called with the descriptor that is read, for tests in which reading fails.
    package func names(opened: (Int32) -> Void = { _ in }) throws(FileError) -> [String] {
        // A new open file description: a duplicate of `descriptor` would share its position and continue from there.
        let reader = unsafe openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard reader >= 0 else { throw FileError(.read, path) }
        guard let stream = unsafe fdopendir(reader) else {
            let number = errno
            close(reader)
            throw FileError(.read, path, systemError: number)
        }
        defer { unsafe closedir(stream) }
        opened(reader)
        var names = [String]()
        while true {
            // readdir(3) returns NULL at the end and after an error. Only an error sets errno.
            errno = 0
            guard let entry = unsafe readdir(stream) else { break }
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe String(cString: UnsafeRawPointer(pointer).assumingMemoryBound(to: CChar.self))
            }
            if name != ".", name != ".." { names.append(name) }
        }
        guard errno == 0 else { throw FileError(.read, path) }
        return names.sorted()
    }

    // MARK: Locking

    /// Locks the folder until this object is deinitialised or the process ends. A user who can open the folder can hold its
    /// lock for ever, see ``FileLock``.
    ///
    /// - Throws: `FileError` with `busy`, `changedMeanwhile`.
    package func lock(_ kind: FileLock.Kind, _ wait: FileLock.Wait = .forever) throws(FileError) {
        try FileLock.lock(descriptor, path, kind, wait)
        try requireCurrent()
    }

    /// Refuses a folder that another one has replaced, such as while this process waited for a lock.
    ///
    /// - Throws: `FileError` with `changedMeanwhile`.
    package func requireCurrent() throws(FileError) {
        guard let current else { throw FileError(.read, path, systemError: ENOENT) }
        guard try current.identity == status().identity else {
            throw FileError(.changedMeanwhile, path, "\(path) was replaced by another folder; try again")
        }
    }

    /// Releases the lock at once: see `FileLock.deinit`.
    package func unlock() { _ = flock(descriptor, LOCK_UN) }

    /// The status of what the path names now.
    private var current: FileStatus? {
        FileStatus(path.isEmpty ? "." : path, followingLinks: followsLinks)
    }

    // MARK: Reading

    /// Opens a file for reading and refuses a symbolic link. Doesn't wait for the other end of a pipe.
    package func file(_ name: String) throws(FileError) -> OpenFile {
        try openFile(name, O_RDONLY | O_NONBLOCK, mode: 0, .read)
    }

    /// Reads a whole file with its owner and mode, and refuses a symbolic link.
    ///
    /// - Parameter rule: nil to check the owner and mode later or not at all.
    /// - Throws: `FileError` with `notFound`, `symbolicLink`, `notAFile`, `foreignOwner`, `looseMode`, `tooLong`.
    package func read(
        _ name: String, _ rule: FileAccess.Rule? = nil, limitInBytes limit: Int = OpenFile.usualLimitInBytes
    ) throws(FileError) -> (bytes: [UInt8], access: FileAccess) {
        let file = try file(name)
        let status = try file.requireFile(rule)
        return (try file.readAll(limitInBytes: limit), status.access)
    }

    // MARK: Writing

    /// Makes a file and opens it for writing.
    ///
    /// - Parameter isProtected: see ``FileProtection``.
    /// - Throws: `FileError` with `alreadyExists`, `noPermission`, `noSpace`, `cannotCreate`.
    package func makeFile(_ name: String, mode: Int = 0o600, isProtected: Bool = false) throws(FileError) -> OpenFile {
        let file = try openFile(name, O_WRONLY | O_CREAT | O_EXCL, mode: mode, .create)
        if isProtected {
            do throws(FileError) {
                try FileProtection.apply(toPath: file.path)
            } catch {
                try? remove(name)
                throw error
            }
        }
        return file
    }

    func openFile(
        _ name: String, _ flags: Int32, mode: Int, _ operation: FileError.Operation
    ) throws(FileError) -> OpenFile {
        let file = unsafe openat(descriptor, name, flags | O_NOFOLLOW | O_CLOEXEC, mode_t(mode))
        guard file >= 0 else {
            let number = errno
            let path = path(of: name)
            throw number == ELOOP ? .isLink(path) : FileError(operation, path, systemError: number, in: self)
        }
        return OpenFile(descriptor: file, named: path(of: name), isOwned: true)
    }

    /// Replaces a file atomically: a crash leaves the old file or the new one, never a part of it.
    ///
    /// - Parameters:
    ///   - isProtected: see ``FileProtection``.
    ///   - step: called after each step with its name, for tests that end the process there.
    package func replace(
        _ name: String, with bytes: [UInt8], mode: Int = 0o600, isProtected: Bool = false,
        step: (String) -> Void = { _ in }
    ) throws(FileError) {
        let temporary = "\(name)\(Self.temporaryMark)\(FileSystem.randomName())"
        let file: OpenFile
        do throws(FileError) { file = try makeFile(temporary, mode: mode) } catch {
            // The caller knows nothing of the temporary name.
            throw FileError(has(name) ? .replace : .create, path(of: name), systemError: error.systemError, in: self)
        }
        step("created")
        do throws(FileError) {
            // Before the first byte, so that no secret is in a file with less protection.
            if isProtected { try FileProtection.apply(toPath: file.path) }
            // The umask may have removed bits, and must not decide which users can read a published file.
            try file.setMode(mode)
            try file.write(bytes)
            step("written")
            try file.synchronize()
            step("synced")
            try rename(temporary, to: name, .write)
        } catch {
            unsafe unlinkat(descriptor, temporary, 0)
            throw error
        }
        step("renamed")
        try synchronize()
    }

    private func rename(_ name: String, to other: String, _ operation: FileError.Operation) throws(FileError) {
        guard unsafe renameat(descriptor, name, descriptor, other) == 0 else {
            throw FileError(operation, path(of: other))
        }
    }

    package func append(_ bytes: [UInt8], to name: String) throws(FileError) {
        let file = try openFile(name, O_WRONLY | O_CREAT | O_APPEND, mode: 0o600, .write)
        try file.write(bytes)
        try file.synchronize()
        try synchronize()
    }

    /// Renames a file or folder and replaces a file that has the new name.
    ///
    /// - Parameter isLasting: whether to wait until the new name is on the disk.
    package func rename(_ name: String, to other: String, isLasting: Bool = true) throws(FileError) {
        try rename(name, to: other, .write)
        if isLasting { try synchronize() }
    }

    /// Renames a file or folder to a name that must be free.
    ///
    /// - Throws: `FileError` with `alreadyExists`.
    package func publish(_ name: String, as other: String) throws(FileError) {
        guard !has(other) else { throw FileError(.alreadyExists, path(of: other), "\(path(of: other)) exists already") }
        try rename(name, to: other, .create)
        try synchronize()
    }

    /// Waits until the names in the folder are on the disk.
    package func synchronize() throws(FileError) {
        guard fsync(descriptor) == 0 else { throw FileError(.write, path) }
    }

    // MARK: Removing

    /// Removes a file or link if there is one.
    package func remove(_ name: String) throws(FileError) {
        guard unsafe unlinkat(descriptor, name, 0) == 0 || errno == ENOENT else {
            throw FileError(.remove, path(of: name))
        }
    }

    /// The names of the temporary files that interrupted calls of ``replace(_:with:mode:isProtected:step:)`` left.
    package func leftovers() throws(FileError) -> [String] { try names().filter(Self.isLeftover) }

    package static func isLeftover(_ name: String) -> Bool { name.contains(temporaryMark) }

    private static let temporaryMark = ".new-"
}

extension FileError {
    fileprivate static func isLink(_ path: String) -> FileError {
        FileError(.symbolicLink, path, "\(path) is a symbolic link")
    }
}
