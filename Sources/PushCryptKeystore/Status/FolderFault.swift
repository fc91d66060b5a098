import PushCryptFiles
import PushCryptPrimitives

/// Why commands can't write to a folder.
package enum FolderFault: Hashable, Sendable {
    case missing
    case noPermission(owner: UInt32)
    case readOnly
    /// Less than 16 MiB are free, four times the longest keyset.
    case full
    case noLocks
    case other(systemError: Int32)

    private static let leastFreeByteCount: UInt64 = 16 << 20

    /// Asks the system, and writes nothing. nil if commands can write.
    ///
    /// - Parameter needsLock: whether commands lock the folder.
    package init?(_ path: String, needsLock: Bool) {
        do throws(FileError) {
            try FileSystem.requireChangeable(path)
            guard try Self.freeByteCount(path) >= Self.leastFreeByteCount else {
                self = .full
                return
            }
            guard needsLock else { return nil }
            try Folder(path, followingLinks: true).lock(.shared, .none)
            return nil
        } catch {
            switch error.systemError {
            case _ where error.code == .busy || error.code == .changedMeanwhile: return nil
            case _ where error.code == .noLocks: self = .noLocks
            case EROFS: self = .readOnly
            case ENOENT, ENOTDIR: self = .missing
            case EACCES, EPERM:
                self = .noPermission(owner: FileStatus(path, followingLinks: true)?.access.owner ?? FileSystem.ownUser)
            default: self = .other(systemError: error.systemError)
            }
        }
    }

    /// The number of bytes that this user can write to the file system of a path. Not in a module of apps: their privacy
    /// manifest would have to give a reason for the call.
    private static func freeByteCount(_ path: String) throws(FileError) -> UInt64 {
        var status = statvfs()
        guard unsafe statvfs(path, &status) == 0 else { throw FileError(.read, path) }
        return UInt64(status.f_bavail) * UInt64(status.f_frsize)
    }

    package func finding(_ folders: [String]) -> StatusFinding {
        let remedy: StatusFinding.Remedy
        switch self {
        case .noPermission(let owner) where owner != FileSystem.ownUser:
            return StatusFinding(.otherUser(owner, paths: folders), nil, .runAs(owner))
        case .noPermission, .readOnly, .missing: remedy = .makeWritable(folders)
        case .full: remedy = .freeSpace(folders)
        case .noLocks: remedy = .moveToLocalDisk(folders)
        case .other: remedy = .inspect(path: folders[0])
        }
        return StatusFinding(.cannotWrite(self, folders: folders), nil, remedy)
    }
}
