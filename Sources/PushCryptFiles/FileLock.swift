import PushCryptPrimitives

/// A lock between processes of one user.
///
/// Every user who can open a file or folder can lock it and stall the processes that wait. So this type locks the folder
/// only if no other user can open it, and otherwise a private file in the folder.
package final class FileLock: Sendable {
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

    /// Locks a private file, mode 0600, in a folder that was checked, so that the folder itself can have another lock.
    ///
    /// - Throws: `FileError` with `symbolicLink`, `notAFile`, `foreignOwner`, `looseMode`, `noPermission`.
    package init(file name: String, in folder: Folder) throws(FileError) {
        self.folder = folder
        let file = try folder.openFile(name, O_RDWR | O_CREAT, mode: 0o600, .lock)
        try file.requireFile(.ownerOnly)
        self.file = file
    }

    /// Refuses a folder that belongs neither to this user nor to root: its owner can open it, or replace the file, and hold
    /// the lock for ever.
    ///
    /// - Parameter name: the name of the private file, mode 0600.
    /// - Throws: `FileError` with `symbolicLink`, `notAFile`, `foreignOwner`, `looseMode`, `noPermission`.
    package convenience init(in folder: Folder, named name: String) throws(FileError) {
        let access = try folder.status().access
        try access.checkOwner(folder.path)
        if access.keepsOthersOut(.ownerOnly) { self.init(folder) } else { try self.init(file: name, in: folder) }
    }

    private init(_ folder: Folder) {
        self.folder = folder
        file = nil
    }

    /// Closing the descriptor isn't enough: a child process that another thread has forked has a copy until it executes its
    /// program.
    deinit { unlock() }

    private var descriptor: Int32 { file?.descriptor ?? folder.descriptor }

    /// - Throws: `FileError` with `busy` if another process holds the lock for too long.
    package func lock(_ kind: Kind, _ wait: Wait) throws(FileError) {
        try Self.lock(descriptor, folder.path, kind, wait)
    }

    package func unlock() { _ = flock(descriptor, LOCK_UN) }

    /// - Parameter descriptor: closing it releases the lock, and so does a crash.
    static func lock(_ descriptor: Int32, _ path: String, _ kind: Kind, _ wait: Wait) throws(FileError) {
        var operation = kind == .shared ? LOCK_SH : LOCK_EX
        if case .forever = wait {} else { operation |= LOCK_NB }
        while flock(descriptor, operation) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR else { throw FileError(.lock, path) }
            switch wait {
            case .forever: continue
            case .until(let end) where ContinuousClock.now < end: pause()
            case .until, .none: throw FileError(.busy, path, "another process is using \(path)")
            }
        }
    }

    package static func pause() { usleep(2_000) }
}

extension Folder {
    /// Makes a private file in this folder and locks it. The holder removes the file while it still holds the lock.
    ///
    /// - Throws: `FileError` with `busy` if another process holds the lock until `end`.
    package func lockedFile(_ name: String, until end: ContinuousClock.Instant) throws(FileError) -> OpenFile {
        while true {
            let file = try openFile(name, O_RDWR | O_CREAT, mode: 0o600, .create)
            try FileLock.lock(file.descriptor, file.path, .exclusive, .until(end))
            // The previous holder may have removed the file while this process waited for its lock.
            if try status(of: name)?.identity == file.status().identity { return file }
        }
    }
}
