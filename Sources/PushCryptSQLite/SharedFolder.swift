import PushCryptPrimitives

/// The folder of a database that several processes use, and the lock by which one of them may replace the file.
///
/// SQLite's own locks are on the file. A process that writes to a file which another one has just replaced would leave
/// its journal beside the new one, which would be destroyed by it: so everybody who uses the file holds this lock.
package final class SharedFolder: Sendable {
    package let path: String
    private let descriptor: Int32

    /// Makes the folder where there is none, for the owner alone; those above it must be there.
    package init(_ path: String) throws(SQLiteError) {
        self.path = path
        _ = unsafe mkdir(path, 0o700)
        descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system("open the folder of the store") }
    }

    deinit {
        close(descriptor)
    }

    package enum Lock: Sendable {
        case shared, exclusive
    }

    /// - Throws: `SQLiteError` of the kind `busy` when the lock wasn't free in time.
    package func withLock<Value>(
        _ lock: Lock, timeout: Duration, _ body: () throws(SQLiteError) -> Value
    ) throws(SQLiteError) -> Value {
        try withLock(lock, until: ContinuousClock.now + timeout, body)
    }

    /// - Parameter end: when waiting for the lock ends; the lock is tried once even if that has passed.
    /// - Throws: `SQLiteError` of the kind `busy` when the lock wasn't free in time.
    package func withLock<Value>(
        _ lock: Lock, until end: ContinuousClock.Instant, _ body: () throws(SQLiteError) -> Value
    ) throws(SQLiteError) -> Value {
        while flock(descriptor, (lock == .shared ? LOCK_SH : LOCK_EX) | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR else { throw .system("lock the folder of the store") }
            guard ContinuousClock.now < end else { throw SQLiteError(.busy, "another process is using the store") }
            Self.pause()
        }
        defer { _ = flock(descriptor, LOCK_UN) }
        return try body()
    }

    /// How long a lock that another process holds is left alone before it is tried again: 2 ms.
    static func pause() {
        usleep(2_000)
    }

    package func path(_ name: String) -> String { path + "/" + name }

    package func has(_ name: String) -> Bool { byteCount(of: name) != nil }

    /// nil where there is no such file.
    package func byteCount(of name: String) -> Int? {
        var status = stat()
        return unsafe lstat(path(name), &status) == 0 ? Int(clamping: status.st_size) : nil
    }

    /// Makes an empty file, for the owner alone.
    package func create(_ name: String) throws(SQLiteError) {
        let file = unsafe open(path(name), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw .system("create the store") }
        close(file)
    }

    package func restrict(_ name: String) throws(SQLiteError) {
        guard unsafe chmod(path(name), 0o600) == 0 else { throw .system("create the store") }
    }

    /// Makes the file one byte longer: a count that no crash tears.
    package func lengthen(_ name: String) {
        let file = unsafe open(path(name), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { return }
        _ = unsafe write(file, "+", 1)
        close(file)
    }

    /// Nothing where there is no such file.
    package func remove(_ name: String) {
        _ = unsafe unlink(path(name))
    }

    package func rename(_ name: String, to other: String) throws(SQLiteError) {
        guard renameFile(path(name), path(other)) == 0 else { throw .system("create the store") }
        fsync(descriptor)
    }
}

/// rename(2), which the method hides by its name.
private func renameFile(_ name: String, _ other: String) -> Int32 {
    unsafe rename(name, other)
}
