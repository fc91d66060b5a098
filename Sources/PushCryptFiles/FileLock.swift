import PushCryptPrimitives

/// A lock that processes of one user share: on a folder that no other user can open, else on a file in it that has no other
/// purpose.
///
/// Every user who can open a file or folder can lock it, and so stop those who wait for it.
package final class FileLock: Sendable {
    /// Whether several processes may hold a lock at once.
    package enum Kind: Sendable {
        case shared, exclusive
    }

    /// How long to wait for a lock that another process holds.
    package enum Wait: Sendable {
        case none
        case until(ContinuousClock.Instant)
        case forever
    }

    private let folder: Folder
    private let file: OpenFile?

    /// - Parameter name: of the file that is made in a folder that other users can open, mode 0600.
    /// - Throws: `FileError` with `symbolicLink`, `notAFile`, `foreignOwner`, `looseMode`, `noPermission`.
    package init(in folder: Folder, named name: String) throws(FileError) {
        self.folder = folder
        guard try !folder.status().access.keepsOthersOut(.ownerOnly) else {
            file = nil
            return
        }
        let file = try folder.openFile(name, O_RDWR | O_CREAT, mode: 0o600, .lock)
        try file.requireFile(.ownerOnly)
        self.file = file
    }

    private var descriptor: Int32 { file?.descriptor ?? folder.descriptor }

    /// - Throws: `FileError` with `busy` where it wasn't free in time.
    package func lock(_ kind: Kind, _ wait: Wait) throws(FileError) {
        try Self.lock(descriptor, folder.path, kind, wait)
    }

    package func unlock() {
        _ = flock(descriptor, LOCK_UN)
    }

    /// - Parameter descriptor: the lock is given back when it is closed, also by a crash.
    static func lock(_ descriptor: Int32, _ path: String, _ kind: Kind, _ wait: Wait) throws(FileError) {
        let operation = kind == .shared ? LOCK_SH : LOCK_EX
        if case .forever = wait {
            while flock(descriptor, operation) != 0 {
                guard errno == EINTR else { throw FileError(.lock, path) }
            }
            return
        }
        while flock(descriptor, operation | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR else { throw FileError(.lock, path) }
            guard case .until(let end) = wait, ContinuousClock.now < end else {
                throw FileError(.busy, path, "another process is using \(path)")
            }
            pause()
        }
    }

    /// The time after which a lock that another process holds is tried again: 2 ms.
    package static func pause() {
        usleep(2_000)
    }
}
