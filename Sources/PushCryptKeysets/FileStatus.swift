package import PushCryptCore
package import PushCryptPrimitives

/// What the system says of a file or folder, without reading it; of a symbolic link what it says of the link.
package struct FileStatus: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        case file, folder, symbolicLink, other
    }

    package let kind: Kind
    package let access: FileAccess
    package let modifiedAt: UnixTime

    package init(kind: Kind, access: FileAccess, modifiedAt: UnixTime) {
        self.kind = kind
        self.access = access
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
        self.init(kind: kind, access: FileAccess(status), modifiedAt: UnixTime(Int64(seconds)))
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
