import PushCryptFiles

/// What two calls of `stat` say of a keyset's file and its folder: while it stays the same, the keyset does.
///
/// ```
/// file: device, inode, mode, owner, size, time of its last write, time of its last change of any kind
/// folder: device, inode, mode, owner
/// ```
/// Of something that isn't there: nothing.
package struct FileStamp: Hashable, Sendable {
    private let file: FileStatus?
    private let folderIdentity: FileStatus.Identity?
    private let folderAccess: FileAccess?

    package init(_ place: KeysetPlace) {
        file = FileStatus(place.filePath, followingLinks: true)
        let folder = FileStatus(place.folderPath, followingLinks: true)
        folderIdentity = folder?.identity
        folderAccess = folder?.access
    }
}
