import PushCryptPrimitives

/// An open directory. Everything in it is reached through its descriptor and never by path, so that what was checked is
/// what is used, even where another user exchanges the folder for another one or for a link.
package final class Folder: Sendable {
    /// As the caller named it; empty for the current one.
    package let path: String
    let descriptor: Int32
    /// Where it was opened; nil for one that was opened by path.
    private let parent: Folder?
    private let followsLinks: Bool

    /// - Parameters:
    ///   - path: empty for the current folder.
    ///   - followingLinks: whether a symbolic link to a folder is opened.
    /// - Throws: `FileError` with `symbolicLink`, `notFound`, `noPermission`.
    package init(_ path: String, followingLinks: Bool = false) throws(FileError) {
        let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | (followingLinks ? 0 : O_NOFOLLOW)
        let descriptor = unsafe open(path.isEmpty ? "." : path, flags)
        guard descriptor >= 0 else {
            let number = errno
            throw Self.failure(number, path, followingLinks ? nil : FileStatus(path))
        }
        self.path = path
        self.descriptor = descriptor
        parent = nil
        followsLinks = followingLinks
    }

    private init(_ path: String, descriptor: Int32, parent: Folder) {
        self.path = path
        self.descriptor = descriptor
        self.parent = parent
        followsLinks = false
    }

    deinit {
        close(descriptor)
    }

    /// A folder in this one; a symbolic link is refused.
    package func folder(_ name: String) throws(FileError) -> Folder {
        let inner = unsafe openat(descriptor, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard inner >= 0 else {
            let number = errno
            throw Self.failure(number, path(of: name), status(of: name))
        }
        return Folder(path(of: name), descriptor: inner, parent: self)
    }

    /// Makes the folder, mode 0700, where there is nothing of that name. Those above it must exist.
    ///
    /// - Parameter isProtected: see ``FileProtection``.
    package static func makeIfMissing(_ path: String, isProtected: Bool = false) throws(FileError) {
        guard unsafe mkdir(path, 0o700) == 0 else {
            guard errno == EEXIST else { throw FileError(.create, path) }
            return
        }
        if isProtected { try FileProtection.apply(toPath: path) }
    }

    /// Makes a folder in this one, mode 0700.
    package func makeFolder(_ name: String) throws(FileError) {
        guard unsafe mkdirat(descriptor, name, 0o700) == 0 else { throw FileError(.create, path(of: name)) }
    }

    private static func failure(_ number: Int32, _ path: String, _ status: FileStatus?) -> FileError {
        guard status?.kind != .symbolicLink || ![ELOOP, ENOTDIR].contains(number) else { return .isLink(path) }
        return FileError(.read, path, systemError: number)
    }

    package func path(of name: String) -> String {
        path.isEmpty || path.hasSuffix("/") ? path + name : path + "/" + name
    }

    // MARK: Looking

    package func status() throws(FileError) -> FileStatus {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw FileError(.read, path) }
        return FileStatus(status)
    }

    /// - Returns: nil where there is nothing of that name; of a symbolic link, what it is itself.
    package func status(of name: String) -> FileStatus? {
        var status = stat()
        return unsafe fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 ? FileStatus(status) : nil
    }

    package func has(_ name: String) -> Bool { status(of: name) != nil }

    /// - Throws: `FileError` with `foreignOwner`, `looseMode`.
    package func check(_ rule: FileAccess.Rule) throws(FileError) {
        try status().access.check(rule, path)
    }

    /// The names in it, hidden ones too, sorted, without `.` and `..`.
    package func names() throws(FileError) -> [String] {
        // A description of its own: one that is shared with `descriptor` would go on where the last reading stopped.
        let reader = unsafe openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard reader >= 0 else { throw FileError(.read, path) }
        guard let stream = unsafe fdopendir(reader) else {
            let number = errno
            close(reader)
            throw FileError(.read, path, systemError: number)
        }
        defer { unsafe closedir(stream) }
        var names = [String]()
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe String(cString: UnsafeRawPointer(pointer).assumingMemoryBound(to: CChar.self))
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    // MARK: Locking

    /// Locks the folder; the lock is given back with the object, also by a crash. Only for a folder that no other user can
    /// open, see ``FileLock``.
    ///
    /// - Throws: `FileError` with `busy`, `changedMeanwhile`.
    package func lock(_ kind: FileLock.Kind, _ wait: FileLock.Wait = .forever) throws(FileError) {
        try FileLock.lock(descriptor, path, kind, wait)
        // Another folder may have been put in its place while this process waited.
        guard try isInPlace() else {
            throw FileError(.changedMeanwhile, path, "\(path) was replaced by another folder; try again")
        }
    }

    /// Whether the name that it was opened by still is this folder's.
    func isInPlace() throws(FileError) -> Bool {
        let now =
            parent.map { $0.status(of: FileSystem.name(of: path)) }
            ?? FileStatus(path.isEmpty ? "." : path, followingLinks: followsLinks)
        guard let now else { throw FileError(.read, path, systemError: ENOENT) }
        return try now.identity == status().identity
    }

    // MARK: Reading

    /// A file, open for reading; a symbolic link is refused. Doesn't wait for the other end of a pipe.
    package func file(_ name: String) throws(FileError) -> OpenFile {
        try openFile(name, O_RDONLY | O_NONBLOCK, mode: 0, .read)
    }

    /// The whole file, and the owner and mode that it has; a symbolic link is refused.
    ///
    /// - Parameter rule: who may reach the file; nil where that doesn't matter, or not yet.
    /// - Throws: `FileError` with `notFound`, `symbolicLink`, `notAFile`, `foreignOwner`, `looseMode`, `tooLong`.
    package func read(
        _ name: String, _ rule: FileAccess.Rule? = nil, limitInBytes limit: Int = OpenFile.usualLimitInBytes
    ) throws(FileError) -> (bytes: [UInt8], access: FileAccess) {
        let file = try file(name)
        let status = try file.requireFile(rule)
        return (try file.readAll(limitInBytes: limit), status.access)
    }

    // MARK: Writing

    /// Makes a file, open for writing.
    ///
    /// - Throws: `FileError` with `alreadyExists`, `noPermission`, `noSpace`, `cannotCreate`.
    package func makeFile(_ name: String, mode: Int = 0o600) throws(FileError) -> OpenFile {
        try openFile(name, O_WRONLY | O_CREAT | O_EXCL, mode: mode, .create)
    }

    func openFile(
        _ name: String, _ flags: Int32, mode: Int, _ operation: FileError.Operation
    ) throws(FileError) -> OpenFile {
        let file = unsafe openat(descriptor, name, flags | O_NOFOLLOW | O_CLOEXEC, mode_t(mode))
        guard file >= 0 else {
            let number = errno
            throw number == ELOOP ? .isLink(path(of: name)) : FileError(operation, path(of: name), systemError: number)
        }
        return OpenFile(descriptor: file, named: path(of: name), isOwned: true)
    }

    /// Puts a new file in place of `name` in one step: a crash leaves the old one or the new one, never a part.
    ///
    /// - Parameters:
    ///   - isProtected: see ``FileProtection``.
    ///   - step: called between the steps, for the tests of crashes.
    package func replace(
        _ name: String, with bytes: [UInt8], mode: Int = 0o600, isProtected: Bool = false,
        step: (String) -> Void = { _ in }
    ) throws(FileError) {
        let temporary = "\(name)\(Self.temporaryMark)\(FileSystem.randomName())"
        let file = try makeFile(temporary, mode: mode)
        step("created")
        do throws(FileError) {
            // Before the first byte: no secret is ever in a file with less protection.
            if isProtected { try FileProtection.apply(toPath: file.path) }
            // The umask may have taken bits away, and must not decide who reads a published file.
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

    private func rename(
        _ name: String, to other: String, _ operation: FileError.Operation
    ) throws(FileError) {
        guard unsafe renameat(descriptor, name, descriptor, other) == 0 else {
            throw FileError(operation, path(of: other))
        }
    }

    /// Appends to a file, which is made where there is none.
    package func append(_ bytes: [UInt8], to name: String) throws(FileError) {
        let file = try openFile(name, O_WRONLY | O_CREAT | O_APPEND, mode: 0o600, .write)
        try file.write(bytes)
        try file.synchronize()
        try synchronize()
    }

    /// - Parameter isLasting: whether the new name is to outlast a power failure.
    package func rename(_ name: String, to other: String, isLasting: Bool = true) throws(FileError) {
        try rename(name, to: other, .write)
        if isLasting { try synchronize() }
    }

    /// Renames a file or folder to a name that must be free.
    ///
    /// - Throws: `FileError` with `alreadyExists`.
    package func publish(_ name: String, as other: String) throws(FileError) {
        guard !has(other) else {
            throw FileError(.alreadyExists, path(of: other), "\(path(of: other)) exists already")
        }
        try rename(name, to: other, .create)
        try synchronize()
    }

    /// Waits until the names in the folder are on the disk.
    package func synchronize() throws(FileError) {
        guard fsync(descriptor) == 0 else { throw FileError(.write, path) }
    }

    // MARK: Removing

    /// Removes a file or link; nothing happens where there is none.
    package func remove(_ name: String) throws(FileError) {
        guard unsafe unlinkat(descriptor, name, 0) == 0 || errno == ENOENT else {
            throw FileError(.remove, path(of: name))
        }
    }

    /// Removes a folder in this one with the files in it. Nothing is removed where it was renamed, and the folder stays
    /// where it holds another one.
    ///
    /// - Parameters:
    ///   - folder: what ``folder(_:)`` returned.
    ///   - checked: called when the folder was found under its name, for the tests of those who exchange it then.
    /// - Returns: whether nothing of that name is left.
    @discardableResult
    package func remove(_ folder: Folder, checked: () -> Void = {}) -> Bool {
        let name = FileSystem.name(of: folder.path)
        guard (try? folder.isInPlace()) == true else { return !has(name) }
        checked()
        for file in (try? folder.names()) ?? [] { try? folder.remove(file) }
        // Of a link, or of a folder that isn't empty, unlinkat(2) removes nothing.
        unsafe unlinkat(descriptor, name, AT_REMOVEDIR)
        return !has(name)
    }

    /// Removes a folder in this one with the files in it. A link stays.
    package func removeFolder(_ name: String) {
        if let folder = try? folder(name) { remove(folder) }
    }

    /// The files that a crash in ``replace(_:with:mode:isProtected:step:)`` left.
    package func leftovers() throws(FileError) -> [String] {
        try names().filter(Self.isLeftover)
    }

    package static func isLeftover(_ name: String) -> Bool { name.contains(temporaryMark) }

    private static let temporaryMark = ".new-"
}

extension FileError {
    fileprivate static func isLink(_ path: String) -> FileError {
        FileError(.symbolicLink, path, "\(path) is a symbolic link")
    }
}
