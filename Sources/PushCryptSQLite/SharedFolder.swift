package import PushCryptFiles
import PushCryptPrimitives

/// The folder of a database that several processes use, with the lock for replacing the file.
///
/// SQLite locks only the file. If a process wrote to a file that another process had just replaced, its journal would be next
/// to the new file and would damage it. So every process holds this lock while it uses the file.
package final class SharedFolder: Sendable {
    private let folder: Folder
    private let lock: FileLock

    /// Creates the folder, with access for the owner only, if it doesn't exist. Its parent must exist.
    ///
    /// - Throws: `SQLiteError` of the kind `unavailable` if another user, who isn't root, owns the folder.
    package init(_ path: String) throws(SQLiteError) {
        (folder, lock) = try SQLiteError.converting { () throws(FileError) in
            // If this fails, opening the folder reports the reason.
            try? Folder.makeIfMissing(path, isProtected: true)
            let folder = try Folder(path, followingLinks: true)
            return (folder, try FileLock(in: folder, named: "pushcrypt.lock"))
        }
    }

    /// - Parameter end: when waiting for the lock ends; at least one attempt is made.
    /// - Throws: `SQLiteError` of the kind `busy` if the lock wasn't free in time.
    package func withLock<Value>(
        _ kind: FileLock.Kind, until end: ContinuousClock.Instant, _ body: () throws(SQLiteError) -> Value
    ) throws(SQLiteError) -> Value {
        try SQLiteError.converting { () throws(FileError) in try lock.lock(kind, .until(end)) }
        defer { lock.unlock() }
        return try body()
    }

    package func path(_ name: String) -> String { folder.path(of: name) }
    package func has(_ name: String) -> Bool { folder.has(name) }
    package func byteCount(of name: String) -> Int? { folder.status(of: name).map { Int(clamping: $0.byteCount) } }

    package func create(_ name: String) throws(SQLiteError) {
        _ = try SQLiteError.converting { () throws(FileError) in try folder.makeFile(name) }
    }

    package func restrict(_ name: String) throws(SQLiteError) {
        try SQLiteError.converting { () throws(FileError) in try folder.file(name).setMode(0o600) }
    }

    /// Appends one byte to the file: a counter that no crash can corrupt.
    package func lengthen(_ name: String) { try? folder.append([UInt8(ascii: "+")], to: name) }
    package func remove(_ name: String) { try? folder.remove(name) }

    /// - Parameter isLasting: whether to wait until the new name is on the disk.
    package func rename(_ name: String, to other: String, isLasting: Bool = true) throws(SQLiteError) {
        try SQLiteError.converting { () throws(FileError) in
            try folder.rename(name, to: other, isLasting: isLasting)
        }
    }
}
