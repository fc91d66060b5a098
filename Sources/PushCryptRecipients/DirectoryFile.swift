import PushCryptFiles
import PushCryptPrimitives

/// A file with recipients' records, open for reading: a database, or JSON lines to import.
final class DirectoryFile: Sendable {
    let path: String
    let status: FileStatus
    private let descriptor: Int32

    /// - Throws: `RecipientDirectoryError` with `notFound`, `noPermission`, `foreignOwner` or `looseMode` for one that isn't
    ///   private, `notADirectory` for anything but a file.
    init(_ path: String) throws(RecipientDirectoryError) {
        self.path = path
        // Without blocking: opening a pipe would wait for a writer, maybe for ever.
        descriptor = unsafe open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.failure("read", path) }
        var found = stat()
        guard unsafe fstat(descriptor, &found) == 0 else { throw Self.failure("read", path) }
        status = FileStatus(found)
        guard found.st_mode & S_IFMT == S_IFREG else {
            throw RecipientDirectoryError(.notADirectory, "\(path) is not a file; a recipient directory is needed here")
        }
        // Records hold secrets, and anybody who can write them chooses the keys that are sealed to.
        try Self.check(status.access, .ownerOrRootsGroup, path)
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Refuses a database in a folder that other users can write.
    ///
    /// SQLite takes `NAME-journal` and `NAME-wal` beside the database for its own and writes what is in them into the
    /// database: a user who can make such a file chooses the keys that are sealed to.
    ///
    /// - Throws: `RecipientDirectoryError` with `foreignOwner` or `looseMode`.
    func requireOwnFolder() throws(RecipientDirectoryError) {
        // SQLite looks beside the file that a link points to.
        let resolved = unsafe realpath(path, nil)
        defer { unsafe free(resolved) }
        let name = unsafe resolved.map { unsafe String(cString: $0) } ?? path
        try Self.requireOwn(folder: Self.split(name).folder)
    }

    static func requireOwn(folder: String) throws(RecipientDirectoryError) {
        var found = stat()
        guard unsafe stat(folder, &found) == 0 else { throw failure("read", folder) }
        try check(FileStatus(found).access, .othersMayRead, folder)
    }

    private static func check(
        _ access: FileAccess, _ rule: FileAccess.Rule, _ path: String
    ) throws(RecipientDirectoryError) {
        do throws(FileError) {
            try access.check(rule, path)
        } catch {
            throw RecipientDirectoryError(error.code == .foreignOwner ? .foreignOwner : .looseMode, error.reason)
        }
    }

    static func split(_ path: String) -> (folder: String, name: String) {
        guard let slash = path.lastIndex(of: "/") else { return (".", path) }
        let folder = slash == path.startIndex ? "/" : String(path[..<slash])
        return (folder, String(path[path.index(after: slash)...]))
    }

    /// Whether it is a SQLite database. Detects the format from the first bytes, not the extension.
    var isDatabase: Bool {
        get throws(RecipientDirectoryError) {
            let magic = Array("SQLite format 3\0".utf8)
            var start = [UInt8](repeating: 0, count: magic.count)
            return try read(into: &start, at: 0) == magic.count && start == magic
        }
    }

    /// Whether another file, or none, has the name by now.
    var hasMoved: Bool {
        var found = stat()
        return unsafe stat(path, &found) != 0 || FileStatus(found).identity != status.identity
    }

    /// Reads until the buffer is full or the file ends.
    ///
    /// - Returns: the number of bytes.
    func read(into buffer: inout [UInt8], at offset: Int64) throws(RecipientDirectoryError) -> Int {
        var count = 0
        while count < buffer.count {
            let more = unsafe buffer.withUnsafeMutableBytes { bytes in
                unsafe pread(descriptor, bytes.baseAddress! + count, bytes.count - count, off_t(offset) + off_t(count))
            }
            if more < 0, errno == EINTR { continue }
            guard more >= 0 else { throw Self.failure("read", path) }
            guard more > 0 else { break }
            count += more
        }
        return count
    }

    static func failure(_ verb: String, _ path: String) -> RecipientDirectoryError {
        let number = errno
        let code: RecipientDirectoryError.Code =
            switch number {
            case ENOENT, ENOTDIR: .notFound
            case EACCES, EPERM, ELOOP: .noPermission
            default: .inputOutput
            }
        return RecipientDirectoryError(code, "can't \(verb) \(path): \(unsafe String(cString: strerror(number)))")
    }
}
