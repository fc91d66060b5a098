#if canImport(Glibc)
import Dispatch
import Glibc
import PushCryptFiles

/// inotify(7). The folder is watched and not the file: a rename puts another file in its place.
///
/// ```
/// folder   moved to, closed after writing, mode changed; itself moved away or deleted
/// parent   only while the folder is missing: created, moved to
/// ```
/// What the events say is not looked at: they merge, overflow, and come for a folder that has lost its name.
final class InotifyListener: FolderListener, @unchecked Sendable {
    // Unchecked because of the watches: after the initialiser they are used on the queue only.
    private let descriptor: Int32
    private let source: any DispatchSourceRead
    private let folder: String
    private var folderWatch: Int32 = -1
    private var parentWatch: Int32 = -1

    private static let folderMask = UInt32(
        IN_MOVED_TO | IN_CLOSE_WRITE | IN_ATTRIB | IN_MOVE_SELF | IN_DELETE_SELF | IN_ONLYDIR)
    private static let parentMask = UInt32(IN_MOVED_TO | IN_CREATE | IN_ONLYDIR)

    /// - Returns: nil where the system has no more room for listeners (`fs.inotify.max_user_instances`).
    init?(_ folder: String, _ queue: DispatchQueue, _ listen: @escaping @Sendable () -> Void) {
        let descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        guard descriptor >= 0 else { return nil }
        self.descriptor = descriptor
        self.folder = folder
        source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        rearm()
        source.setEventHandler { [weak self] in
            Self.drain(descriptor)
            self?.rearm()
            listen()
        }
        source.setCancelHandler { close(descriptor) }
        source.activate()
    }

    deinit {
        source.cancel()
    }

    func cancel() {
        source.cancel()
    }

    func rearm() {
        guard !source.isCancelled else { return }
        watchFolder()
        guard folderWatch < 0 else { return remove(&parentWatch) }
        parentWatch = unsafe inotify_add_watch(descriptor, parent, Self.parentMask)
        // It may have come back in between.
        watchFolder()
    }

    private func watchFolder() {
        let watch = unsafe inotify_add_watch(descriptor, folder, Self.folderMask)
        // The system hands out the same number for the same folder.
        if watch != folderWatch { remove(&folderWatch) }
        folderWatch = watch
    }

    /// One that is gone already is no error.
    private func remove(_ watch: inout Int32) {
        if watch >= 0 { inotify_rm_watch(descriptor, watch) }
        watch = -1
    }

    private var parent: String {
        let parent = FileSystem.parent(of: folder)
        return parent.isEmpty ? "." : parent
    }

    private static func drain(_ descriptor: Int32) {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while unsafe buffer.withUnsafeMutableBytes({ unsafe read(descriptor, $0.baseAddress, $0.count) }) > 0 {}
    }
}
#endif
