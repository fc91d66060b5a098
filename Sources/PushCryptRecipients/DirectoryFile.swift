import PushCryptFiles

/// An open file with recipients' records: a database, or JSON lines to import.
final class DirectoryFile: Sendable {
    let path: String
    let status: FileStatus
    let file: OpenFile

    /// - Throws: `RecipientDirectoryError` with `notFound`, `noPermission`, `foreignOwner`, `looseMode`, and
    ///   `notADirectory` for anything but a file.
    init(_ path: String) throws(RecipientDirectoryError) {
        self.path = path
        (file, status) = try RecipientDirectoryError.converting { () throws(FileError) in
            let file = try OpenFile(path)
            // Records contain secrets, and a user who can write them chooses the keys to seal to.
            return (file, try file.requireFile(.ownerOrRootsGroup, advice: "; a recipient directory is needed here"))
        }
    }

    /// Refuses a database in a folder that other users can write.
    ///
    /// SQLite copies the content of `NAME-journal` and `NAME-wal` beside the database into the database. A user who can
    /// make such a file chooses the keys to seal to. Throws `RecipientDirectoryError` with `foreignOwner` or
    /// `looseMode`.
    func requireOwnFolder() throws(RecipientDirectoryError) {
        // SQLite uses the folder of the file that a link points to.
        try Self.requireOwnFolder(of: FileSystem.resolvedPath(path) ?? path)
    }

    static func requireOwnFolder(of path: String) throws(RecipientDirectoryError) {
        let folder = FileSystem.parent(of: path)
        try RecipientDirectoryError.converting { () throws(FileError) in
            try FileSystem.check(folder.isEmpty ? "." : folder, .othersMayRead)
        }
    }

    /// Whether the file is a SQLite database. Detects the format from the first bytes, not the extension.
    var isDatabase: Bool {
        get throws(RecipientDirectoryError) {
            let magic = Array("SQLite format 3\0".utf8)
            var start = [UInt8](repeating: 0, count: magic.count)
            return try read(into: &start, at: 0) == magic.count && start == magic
        }
    }

    var hasMoved: Bool { FileStatus(path, followingLinks: true)?.identity != status.identity }

    /// Reads until the buffer is full or the file ends, and returns the number of bytes.
    func read(into buffer: inout [UInt8], at offset: Int64) throws(RecipientDirectoryError) -> Int {
        try RecipientDirectoryError.converting { () throws(FileError) in try file.readFull(into: &buffer, at: offset) }
    }
}
