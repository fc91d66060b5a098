package import PushCryptCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// What the system says of a file or folder, without reading it; of a symbolic link what it says of the link.
package struct FileStatus: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        case file, folder, symbolicLink, other
    }

    package let kind: Kind
    /// The permission bits, sticky bit and the like among them.
    package let mode: Int
    /// The user id of the owner.
    package let owner: UInt32
    package let modifiedAt: UnixTime

    package init(kind: Kind, mode: Int, owner: UInt32, modifiedAt: UnixTime) {
        self.kind = kind
        self.mode = mode
        self.owner = owner
        self.modifiedAt = modifiedAt
    }

    init(_ status: stat) {
        let kind: Kind =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .file
            case S_IFDIR: .folder
            case S_IFLNK: .symbolicLink
            default: .other
            }
        #if canImport(Darwin)
        let seconds = status.st_mtimespec.tv_sec
        #else
        let seconds = status.st_mtim.tv_sec
        #endif
        self.init(
            kind: kind, mode: Int(status.st_mode & 0o7777), owner: status.st_uid, modifiedAt: UnixTime(Int64(seconds)))
    }
}

extension FileSystem {
    /// - Returns: nil where there is nothing of that name.
    package static func status(of path: String) -> FileStatus? {
        var status = stat()
        return unsafe lstat(path, &status) == 0 ? FileStatus(status) : nil
    }

    /// The user id that this process acts with.
    package static var ownUser: UInt32 { geteuid() }
}
