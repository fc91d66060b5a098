#if canImport(Darwin)
import Darwin
import Dispatch
import PushCryptFiles

/// kqueue(2). The folder is watched: its entries change when a rename puts another file in the place of the old one. A
/// file that is written in place shows when somebody looks.
final class KernelQueueListener: FolderListener, @unchecked Sendable {
    // Unchecked because of the source: after the initialiser it is used on the queue only.
    private let queue: DispatchQueue
    private let folder: String
    private let listen: @Sendable () -> Void
    private var source: (any DispatchSourceFileSystemObject)?
    private var watched: [UInt64] = []

    init(_ folder: String, _ queue: DispatchQueue, _ listen: @escaping @Sendable () -> Void) {
        self.folder = folder
        self.queue = queue
        self.listen = listen
        rearm()
    }

    deinit {
        source?.cancel()
    }

    func cancel() {
        source?.cancel()
        source = nil
    }

    /// While the folder is missing, its parent stands in for it.
    func rearm() {
        let parent = FileSystem.parent(of: folder)
        for path in [folder, parent.isEmpty ? "." : parent] {
            let descriptor = unsafe open(path, O_EVTONLY | O_CLOEXEC)
            guard descriptor >= 0 else { continue }
            watch(descriptor)
            return
        }
    }

    private func watch(_ descriptor: Int32) {
        var status = stat()
        unsafe fstat(descriptor, &status)
        let identity = [UInt64(truncatingIfNeeded: status.st_dev), UInt64(status.st_ino)]
        guard identity != watched || source == nil else {
            close(descriptor)
            return
        }
        watched = identity
        source?.cancel()
        let source = DispatchSource.makeFileSystemObjectSource(
            fileDescriptor: descriptor, eventMask: [.write, .attrib, .rename, .delete], queue: queue)
        source.setEventHandler { [weak self, listen] in
            self?.rearm()
            listen()
        }
        source.setCancelHandler { close(descriptor) }
        source.activate()
        self.source = source
    }
}
#endif
