import PushCryptPrimitives

/// An open folder. Its files are reached through it and not by path, so that what was checked is what is used, whatever
/// somebody puts under the name meanwhile.
package final class Folder {
    package let path: String
    private let descriptor: Int32

    /// - Throws: `KeystoreError` with `notAKeyset` for a symbolic link or a file, `notFound`, `noPermission`.
    package init(_ path: String) throws(KeystoreError) {
        self.path = path
        if FileSystem.isSymbolicLink(path) {
            throw KeystoreError(.notAKeyset, "\(path) is a symbolic link; a keystore holds files and folders only")
        }
        descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileSystem.failure("read", path) }
    }

    deinit {
        close(descriptor)
    }

    /// Waits until no other process holds the folder; given back with the object, also by a crash.
    package func lock(_ kind: Lock) throws(KeystoreError) {
        while flock(descriptor, kind == .exclusive ? LOCK_EX : LOCK_SH) != 0 {
            guard errno == EINTR else { throw FileSystem.failure("lock", path) }
        }
        try requireSameFolder()
    }

    /// - Returns: whether nobody held the folder; then this process does, as with an exclusive ``lock(_:)``.
    package func lockAtOnce() throws(KeystoreError) -> Bool {
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { return false }
        try requireSameFolder()
        return true
    }

    /// Somebody may have put another folder in its place while this process waited.
    private func requireSameFolder() throws(KeystoreError) {
        let now = try FileSystem.identity(of: path)
        guard now == (try FileSystem.identity(ofDescriptor: descriptor, path)) else {
            throw KeystoreError(.changedMeanwhile, "\(path) was replaced by another folder; try again")
        }
    }

    package enum Lock {
        case shared, exclusive
    }

    /// The owner and the mode of the folder.
    func access() throws(KeystoreError) -> FileAccess {
        FileAccess(try FileSystem.status(ofDescriptor: descriptor, path))
    }

    /// The whole file; a symbolic link is refused.
    ///
    /// - Parameter isPrivate: whether one that isn't private is refused.
    package func read(_ name: String, isPrivate: Bool) throws(KeystoreError) -> [UInt8] {
        try read(name, isPrivate ? .ownerOnly : nil).bytes
    }

    /// The whole file, and the owner and mode that it has; a symbolic link is refused.
    ///
    /// - Parameter rule: nil where they don't matter, or not yet.
    func read(
        _ name: String, _ rule: FileAccess.Rule? = nil
    ) throws(KeystoreError) -> (bytes: [UInt8], access: FileAccess) {
        let file = unsafe openat(descriptor, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else {
            guard errno != ELOOP else {
                throw KeystoreError(
                    .notAKeyset, "\(path)/\(name) is a symbolic link; a keystore holds files and folders only")
            }
            throw FileSystem.failure("read", path + "/" + name)
        }
        defer { close(file) }
        let status = try FileSystem.status(ofDescriptor: file, path + "/" + name)
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw KeystoreError(.notAKeyset, "\(path)/\(name) is not a file")
        }
        let access = FileAccess(status)
        if let rule { try FileSystem.check(access, rule, path + "/" + name) }
        return (try FileSystem.readAll(file, path + "/" + name), access)
    }

    package func has(_ name: String) -> Bool {
        var status = stat()
        return unsafe fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0
    }

    /// - Returns: nil where there is nothing of that name.
    package func status(of name: String) -> FileStatus? {
        var status = stat()
        return unsafe fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 ? FileStatus(status) : nil
    }

    package func status() throws(KeystoreError) -> FileStatus {
        FileStatus(try FileSystem.status(ofDescriptor: descriptor, path))
    }

    /// Hidden ones too, sorted.
    package func names() throws(KeystoreError) -> [String] { try FileSystem.names(in: path) }

    /// Puts a new file in place of `name` in one step: a crash leaves the old one or the new one, never a part.
    ///
    /// - Parameter step: called between the steps, for the tests of crashes.
    package func replace(
        _ name: String, with bytes: [UInt8], mode: Int = 0o600, step: (String) -> Void = { _ in }
    ) throws(KeystoreError) {
        let temporary = try "\(name)\(Self.temporaryMark)\(FileSystem.randomName())"
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW
        let file = unsafe openat(descriptor, temporary, flags, mode_t(mode))
        guard file >= 0 else { throw FileSystem.failure("create", path + "/" + temporary) }
        step("created")
        do throws(KeystoreError) {
            defer { close(file) }
            // The umask may have taken bits away, and must not decide who reads a published file.
            guard fchmod(file, mode_t(mode)) == 0 else { throw FileSystem.failure("write", path + "/" + temporary) }
            try FileSystem.writeAll(bytes, to: file, path + "/" + temporary)
            step("written")
            guard fsync(file) == 0 else { throw FileSystem.failure("write", path + "/" + temporary) }
            step("synced")
            guard unsafe renameat(descriptor, temporary, descriptor, name) == 0 else {
                throw FileSystem.failure("write", path + "/" + name)
            }
        } catch {
            unsafe unlinkat(descriptor, temporary, 0)
            throw error
        }
        step("renamed")
        try synchronize()
    }

    /// Appends whole lines to a file, which is made where there is none.
    package func append(_ bytes: [UInt8], to name: String) throws(KeystoreError) {
        let flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW
        let file = unsafe openat(descriptor, name, flags, 0o600)
        guard file >= 0 else { throw FileSystem.failure("write", path + "/" + name) }
        defer { close(file) }
        try FileSystem.writeAll(bytes, to: file, path + "/" + name)
        guard fsync(file) == 0 else { throw FileSystem.failure("write", path + "/" + name) }
        try synchronize()
    }

    package func rename(_ name: String, to other: String) throws(KeystoreError) {
        guard unsafe renameat(descriptor, name, descriptor, other) == 0 else {
            throw FileSystem.failure("write", path + "/" + other)
        }
        try synchronize()
    }

    package func remove(_ name: String) throws(KeystoreError) {
        guard unsafe unlinkat(descriptor, name, 0) == 0 || errno == ENOENT else {
            throw FileSystem.failure("remove", path + "/" + name)
        }
    }

    /// What a crash in ``replace(_:with:mode:step:)`` left.
    package func leftovers() throws(KeystoreError) -> [String] {
        try names().filter(Self.isLeftover)
    }

    package static func isLeftover(_ name: String) -> Bool { name.contains(temporaryMark) }

    private static let temporaryMark = ".new-"

    package func synchronize() throws(KeystoreError) {
        guard fsync(descriptor) == 0 else { throw FileSystem.failure("write", path) }
    }
}
