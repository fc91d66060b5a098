package import PushCryptPrimitives

/// The metadata of a file or folder, as stat(2) returns it.
package struct FileStatus: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        case file, folder, symbolicLink, other
    }

    /// Identifies a file or folder independently of its name.
    package struct Identity: Hashable, Sendable {
        package let device: UInt64
        package let inode: UInt64
    }

    /// The time since the start of 1970.
    package struct Time: Hashable, Sendable {
        package let seconds: Int64
        package let nanoseconds: Int64

        init(_ time: timespec) {
            seconds = Int64(time.tv_sec)
            nanoseconds = Int64(time.tv_nsec)
        }
    }

    package let kind: Kind
    package let access: FileAccess
    package let identity: Identity
    package let byteCount: Int64
    /// The time of the last change of the content.
    package let modified: Time
    /// The time of the last change of the content, the name, the owner or the mode.
    package let changed: Time

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
        modified = Time(status.st_mtimespec)
        changed = Time(status.st_ctimespec)
        #else
        modified = Time(status.st_mtim)
        changed = Time(status.st_ctim)
        #endif
    }

    /// - Parameter followingLinks: whether to return the status of a symbolic link's target.
    /// - Returns: nil if nothing exists at the path.
    package init?(_ path: String, followingLinks: Bool = false) {
        var status = stat()
        guard unsafe (followingLinks ? stat(path, &status) : lstat(path, &status)) == 0 else { return nil }
        self.init(status)
    }
}
