package import PushCryptFiles
import PushCryptPrimitives

/// The folder of a database that several processes use, and the lock by which one of them may replace the file.
///
/// SQLite's own locks are on the file. A process that writes to a file which another one has just replaced would leave
/// its journal beside the new one, which would be destroyed by it: so everybody who uses the file holds this lock.
package final class SharedFolder: Sendable {
    private let folder: Folder
    private let lock: FileLock

    /// Makes the folder where there is none, for the owner alone; those above it must be there.
    package init(_ path: String) throws(SQLiteError) {
        (folder, lock) = try SQLiteError.converting { () throws(FileError) in
            // Where it can't be made, opening it says why.
            try? Folder.makeIfMissing(path)
            let folder = try Folder(path, followingLinks: true)
            return (folder, try FileLock(in: folder, named: "pushcrypt.lock"))
        }
    }

    /// - Throws: `SQLiteError` of the kind `busy` when the lock wasn't free in time.
    package func withLock<Value>(
        _ kind: FileLock.Kind, timeout: Duration, _ body: () throws(SQLiteError) -> Value
    ) throws(SQLiteError) -> Value {
        try withLock(kind, until: ContinuousClock.now + timeout, body)
    }

    /// - Parameter end: when waiting for the lock ends; the lock is tried once even if that has passed.
    /// - Throws: `SQLiteError` of the kind `busy` when the lock wasn't free in time.
    package func withLock<Value>(
        _ kind: FileLock.Kind, until end: ContinuousClock.Instant, _ body: () throws(SQLiteError) -> Value
    ) throws(SQLiteError) -> Value {
        try SQLiteError.converting { () throws(FileError) in try lock.lock(kind, .until(end)) }
        defer { lock.unlock() }
        return try body()
    }

    /// For SQLite, which opens its files by path.
    package func path(_ name: String) -> String { folder.path(of: name) }

    package func has(_ name: String) -> Bool { folder.has(name) }

    /// nil where there is no such file.
    package func byteCount(of name: String) -> Int? { folder.status(of: name).map { Int(clamping: $0.byteCount) } }

    /// Makes an empty file, for the owner alone.
    package func create(_ name: String) throws(SQLiteError) {
        _ = try SQLiteError.converting { () throws(FileError) in try folder.makeFile(name) }
    }

    /// Keeps all but the owner out of a file.
    package func restrict(_ name: String) throws(SQLiteError) {
        try SQLiteError.converting { () throws(FileError) in try folder.file(name).setMode(0o600) }
    }

    /// Makes the file one byte longer: a count that no crash tears.
    package func lengthen(_ name: String) {
        try? folder.append([UInt8(ascii: "+")], to: name)
    }

    /// Nothing where there is no such file.
    package func remove(_ name: String) {
        try? folder.remove(name)
    }

    package func rename(_ name: String, to other: String) throws(SQLiteError) {
        try SQLiteError.converting { () throws(FileError) in try folder.rename(name, to: other) }
    }
}
