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
        guard unsafe access(path, W_OK | X_OK) == 0 else {
            self = Self.ofAccess(path, errno)
            return
        }
        var status = statvfs()
        guard unsafe statvfs(path, &status) == 0 else {
            self = .other(systemError: errno)
            return
        }
        if UInt64(status.f_bavail) * UInt64(status.f_frsize) < Self.leastFreeByteCount {
            self = .full
        } else if needsLock {
            do throws(FileError) {
                try Folder(path, followingLinks: true).lock(.shared, .none)
                return nil
            } catch {
                guard error.code != .busy, error.code != .changedMeanwhile else { return nil }
                self = error.code == .noLocks ? .noLocks : .other(systemError: error.systemError)
            }
        } else {
            return nil
        }
    }

    private static func ofAccess(_ path: String, _ number: Int32) -> FolderFault {
        switch number {
        case EROFS: return .readOnly
        case ENOENT, ENOTDIR: return .missing
        case EACCES, EPERM:
            return .noPermission(owner: FileStatus(path, followingLinks: true)?.access.owner ?? FileSystem.ownUser)
        default: return .other(systemError: number)
        }
    }

    func finding(_ folders: [String]) -> StatusFinding {
        let remedy: StatusFinding.Remedy
        switch self {
        case .noPermission(let owner) where owner != FileSystem.ownUser:
            return StatusFinding(.otherUser(owner, paths: folders), nil, .runAs(owner))
        case .noPermission, .readOnly: remedy = .makeWritable(folders)
        case .full: remedy = .freeSpace(folders)
        case .noLocks: remedy = .moveToLocalDisk(folders)
        case .missing, .other: remedy = .inspect(path: folders[0])
        }
        return StatusFinding(.cannotWrite(self, folders: folders), nil, remedy)
    }
}
