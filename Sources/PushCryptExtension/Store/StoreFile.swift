import PushCryptFiles
import PushCryptSQLite

/// The database file: opened at the first use, made where there is none, and made anew where it is damaged.
///
/// ```
/// use        shared lock of the folder     the file under the name is the open one; one transaction
/// replace    exclusive lock                look again; make a whole new file beside it; remove the old one's journal;
///                                          rename
/// ```
struct StoreFile: Sendable {
    static let name = "pushcrypt.sqlite"
    /// As many bytes as the store was made anew because it was damaged: what outlives the database.
    static let rebuildCountName = "pushcrypt.rebuilt"

    private static let attempts = 3
    private let path: String
    private var folder: SharedFolder?
    private var database: Database?

    init(folder path: String) {
        self.path = path
    }

    /// - Parameters:
    ///   - end: when it stops waiting for other processes, at whichever lock.
    ///   - body: one statement or one transaction; it may run again on a new database.
    mutating func perform<Value>(
        until end: ContinuousClock.Instant, _ body: (Database) throws(SQLiteError) -> Value
    ) throws(StoreError) -> Value {
        var attempt = 1
        while true {
            do throws(SQLiteError) {
                return try performOnce(until: end, body)
            } catch {
                let damaged = database
                (folder, database) = (nil, nil)
                guard attempt < Self.attempts, error.kind == .missing || error.kind == .damaged else {
                    throw StoreError(error)
                }
                try replace(error.kind == .damaged ? damaged : nil, until: end)
                attempt += 1
            }
        }
    }

    /// How often the store was made anew because it was damaged.
    mutating func rebuildCount() throws(StoreError) -> Int {
        do throws(SQLiteError) {
            return try openFolder().byteCount(of: Self.rebuildCountName) ?? 0
        } catch {
            throw StoreError(error)
        }
    }

    private mutating func performOnce<Value>(
        until end: ContinuousClock.Instant, _ body: (Database) throws(SQLiteError) -> Value
    ) throws(SQLiteError) -> Value {
        let folder = try openFolder()
        var current = database
        defer { database = current }
        return try folder.withLock(.shared, until: end) { () throws(SQLiteError) in
            if let database = current, !database.hasMoved {
                database.wait(until: end)
                return try use(database, body)
            }
            guard folder.has(Self.name) else { throw SQLiteError(.missing, "there is no store") }
            let database = try Database(path: folder.path(Self.name), busyTimeout: .zero)
            database.wait(until: end)
            // Before the first look at the file: if that finds damage, it is this file that is replaced.
            current = database
            try database.script(StoreSchema.settings)
            return try use(database, body)
        }
    }

    private func use<Value>(
        _ database: Database, _ body: (Database) throws(SQLiteError) -> Value
    ) throws(SQLiteError) -> Value {
        try StoreSchema.check(database)
        return try body(database)
    }

    private mutating func openFolder() throws(SQLiteError) -> SharedFolder {
        if let folder { return folder }
        let opened = try SharedFolder(path)
        folder = opened
        return opened
    }

    private mutating func replace(_ damaged: Database?, until end: ContinuousClock.Instant) throws(StoreError) {
        do throws(SQLiteError) {
            let folder = try openFolder()
            try folder.withLock(.exclusive, until: end) { () throws(SQLiteError) in
                // Somebody may have replaced it meanwhile.
                guard damaged?.hasMoved != true, damaged != nil || !folder.has(Self.name) else { return }
                try StoreBuilder.build(in: folder)
                if damaged != nil { folder.lengthen(Self.rebuildCountName) }
            }
        } catch {
            throw StoreError(error)
        }
    }
}
