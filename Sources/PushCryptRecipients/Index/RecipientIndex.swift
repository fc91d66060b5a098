import PushCryptCore
import PushCryptFiles
import PushCryptPrimitives
import PushCryptSQLite

/// A finished index, which nobody changes any more: a new one takes its name. For one thread.
final class RecipientIndex {
    let source: IndexSource
    let database: Database

    /// Where a record lies.
    struct Place: Hashable {
        let line: Int
        let offset: Int64
        let byteCount: Int
        /// The line of another key of the same name.
        let rival: Int?
    }

    /// - Returns: nil where there is none that can be used.
    init?(_ path: String) {
        guard Self.isPrivate(path), let database = try? Database(immutable: path),
            (try? database.script(IndexSchema.reading)) != nil, (try? IndexSchema.check(database)) != nil,
            let source = try? IndexSource(database)
        else { return nil }
        self.database = database
        self.source = source
    }

    func place(of name: RecordName) throws(SQLiteError) -> Place? {
        try database.first(
            "SELECT line, offset, length, rival FROM place WHERE kid = ? AND device = ?",
            .text(name.kid.description), .text(name.deviceText), read: Self.place)
    }

    static func place(_ row: Statement) -> Place {
        Place(
            line: Int(row.integer(0) ?? 0), offset: row.integer(1) ?? 0, byteCount: Int(row.integer(2) ?? 0),
            rival: row.integer(3).map(Int.init))
    }

    /// Others who could write it could lead senders past a collision.
    private static func isPrivate(_ path: String) -> Bool {
        var status = stat()
        return unsafe lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
            && (try? PushCryptFiles.FileStatus(status).access.check(.ownerOnly, path)) != nil
    }
}
