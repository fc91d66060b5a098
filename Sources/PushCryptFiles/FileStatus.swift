package import PushCryptPrimitives

/// The metadata of a file or folder, as stat(2) returns it.
package struct FileStatus: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        case file, folder, symbolicLink, other
    }

    package struct Identity: Hashable, Sendable {
        package let device: UInt64
        package let inode: UInt64
    }

    package let kind: Kind
    package let access: FileAccess
    package let identity: Identity
    package let byteCount: Int64
    /// The time of the last change of the content, since the start of 1970.
    package let modified: Duration
    /// The time of the last change of the content, the name, the owner or the mode, since the start of 1970.
    package let changed: Duration

    package init(_ status: stat) {
        kind =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .file
            case S_IFDIR: .folder
            case S_IFLNK: .symbolicLink
            default: .other
            }
        access = FileAccess(
            owner: status.st_uid, mode: UInt32(status.st_mode), isFolder: status.st_mode & S_IFMT == S_IFDIR)
        identity = Identity(
            device: UInt64(truncatingIfNeeded: status.st_dev), inode: UInt64(truncatingIfNeeded: status.st_ino))
        byteCount = Int64(status.st_size)
        #if canImport(Darwin)
        modified = Duration(status.st_mtimespec)
        changed = Duration(status.st_ctimespec)
        #else
        modified = Duration(status.st_mtim)
        changed = Duration(status.st_ctim)
        #endif
    }

    /// - Parameter followingLinks: whether to return the status of a symbolic link's target.
    /// - Returns: nil if nothing exists at the path.
    package init?(_ path: String, followingLinks: Bool = false) {
        var status = stat()
        guard unsafe (followingLinks ? stat(path, &status) : lstat(path, &status)) == 0 else { return nil }
        self.init(status)
    }

    /// The status of a file or folder, or the reason why this user can't know whether it exists.
    ///
    /// - Returns: nil if nothing exists at the path.
    /// - Throws: `FileError` with `noPermission` if a folder of the path can't be searched.
    package static func at(_ path: String, followingLinks: Bool = false) throws(FileError) -> FileStatus? {
        var status = stat()
        guard unsafe (followingLinks ? stat(path, &status) : lstat(path, &status)) != 0 else {
            return FileStatus(status)
        }
        guard [ENOENT, ENOTDIR, ELOOP, ENAMETOOLONG].contains(errno) else { throw FileError(.read, path) }
        return nil
    }
}

extension Duration {
    fileprivate init(_ time: timespec) { self = .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec)) }
}
