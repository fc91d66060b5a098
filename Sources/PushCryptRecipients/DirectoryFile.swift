import PushCryptFiles
import PushCryptPrimitives

/// The directory's file, open for reading. It can be read by several threads; each lookup reads with an offset of its own.
final class DirectoryFile: Sendable {
    let path: String
    let status: FileStatus
    private let descriptor: Int32

    /// - Throws: `RecipientDirectoryError` with `notFound`, `noPermission`, `foreignOwner` or `looseMode` for one that isn't
    ///   private, `notADirectory` for anything but a file.
    init(_ path: String) throws(RecipientDirectoryError) {
        self.path = path
        // Without blocking: a pipe under the name would hold up the process for good.
        descriptor = unsafe open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.failure("read", path) }
        var found = stat()
        guard unsafe fstat(descriptor, &found) == 0 else { throw Self.failure("read", path) }
        status = FileStatus(found)
        guard found.st_mode & S_IFMT == S_IFREG else {
            throw RecipientDirectoryError(.notADirectory, "\(path) is not a file; a recipient directory is needed here")
        }
        // Records hold secrets, and who writes them chooses the keys that are sealed to.
        try Self.check(PushCryptFiles.FileStatus(found).access, .ownerOrRootsGroup, path)
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
        try Self.requireOwn(folder: IndexFile.split(name).folder)
    }

    static func requireOwn(folder: String) throws(RecipientDirectoryError) {
        var found = stat()
        guard unsafe stat(folder, &found) == 0 else { throw failure("read", folder) }
        try check(PushCryptFiles.FileStatus(found).access, .othersMayRead, folder)
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

    /// Whether it is a SQLite database: what it is called doesn't matter.
    var isDatabase: Bool {
        get throws(RecipientDirectoryError) {
            let magic = Array("SQLite format 3\0".utf8)
            var start = [UInt8](repeating: 0, count: magic.count)
            return try read(into: &start, at: 0) == magic.count && start == magic
        }
    }

    /// Whether the file under the name isn't the open one any more.
    var hasMoved: Bool {
        var found = stat()
        return unsafe stat(path, &found) != 0 || !FileStatus(found).isSameFile(as: status)
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

    /// Where the last newline before `end` ends; 0 where there is none.
    func endOfLastLine(before end: Int64) throws(RecipientDirectoryError) -> Int64 {
        var chunk = [UInt8](repeating: 0, count: 65_536)
        defer { wipe(&chunk) }
        var offset = end
        while offset > 0 {
            let start = max(offset - Int64(chunk.count), 0)
            let count = try min(read(into: &chunk, at: start), Int(offset - start))
            if let newline = chunk[..<count].lastIndex(of: UInt8(ascii: "\n")) { return start + Int64(newline) + 1 }
            offset = start
        }
        return 0
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

/// What tells one file, and one version of it, from another.
struct FileStatus: Hashable, Sendable {
    let device: UInt64
    let inode: UInt64
    let byteCount: Int64
    /// In nanoseconds since 1970.
    let modifiedAt: Int64

    init(_ status: stat) {
        device = UInt64(truncatingIfNeeded: status.st_dev)
        inode = UInt64(truncatingIfNeeded: status.st_ino)
        byteCount = Int64(status.st_size)
        #if canImport(Darwin)
        let time = status.st_mtimespec
        #else
        let time = status.st_mtim
        #endif
        modifiedAt = Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }

    func isSameFile(as other: FileStatus) -> Bool { (device, inode) == (other.device, other.inode) }
}
