import PushCryptPrimitives

/// What two calls of `stat` say of a keyset's file and its folder: while it stays the same, the keyset does.
///
/// ```
/// file: device, inode, mode, owner, size, time of its last write, time of its last change of any kind
/// folder: device, inode, mode, owner
/// ```
/// Of something that isn't there: nothing.
package struct FileStamp: Hashable, Sendable {
    private let file: [Int64]
    private let folder: [Int64]

    package init(_ place: KeysetPlace) {
        file = Self.status(of: place.filePath).map(Self.everything) ?? []
        folder = Self.status(of: place.folderPath).map(Self.identity) ?? []
    }

    private static func status(of path: String) -> stat? {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? status : nil
    }

    private static func identity(_ status: stat) -> [Int64] {
        [
            Int64(truncatingIfNeeded: status.st_dev), Int64(truncatingIfNeeded: status.st_ino), Int64(status.st_mode),
            Int64(status.st_uid),
        ]
    }

    private static func everything(_ status: stat) -> [Int64] {
        #if canImport(Darwin)
        let times = [status.st_mtimespec, status.st_ctimespec]
        #else
        let times = [status.st_mtim, status.st_ctim]
        #endif
        return identity(status) + [Int64(status.st_size)] + times.flatMap { [Int64($0.tv_sec), Int64($0.tv_nsec)] }
    }
}
