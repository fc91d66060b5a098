import PushCryptFiles
import PushCryptSQLite

/// The database file. It is opened at the first use, created if it doesn't exist, and replaced if it is damaged.
///
/// ```
/// use        shared lock of the folder     check that the named file is the open one; run one transaction
/// replace    exclusive lock                check again; create a new file; remove the old file's journal; rename
/// ```
struct StoreFile: Sendable {
    static let name = "pushcrypt.sqlite"
    /// A file with one byte for each replacement of a damaged store. It is never replaced itself.
    static let rebuildCountName = "pushcrypt.rebuilt"

    private static let attempts = 3
    private let path: String
    private var folder: SharedFolder?
    private var database: Database?

    init(folder path: String) { self.path = path }

    /// - Parameters:
    ///   - end: when it stops waiting for the locks of other processes.
    ///   - body: runs in one transaction; it may run again on a new database.
    mutating func transaction<Value>(
        until end: ContinuousClock.Instant, _ body: (Database) throws(SQLiteError) -> Value
    ) throws(StoreError) -> Value {
        var attempt = 1
        while true {
            do throws(SQLiteError) {
                return try transactionOnce(until: end, body)
            } catch {
                let damaged = database
                folder = nil
                database = nil
                guard attempt < Self.attempts, error.kind == .missing || error.kind == .damaged else {
                    throw StoreError(error)
                }
                try replace(error.kind == .damaged ? damaged : nil, until: end)
                attempt += 1
            }
        }
    }

    /// How often a damaged store was replaced.
    mutating func rebuildCount() throws(StoreError) -> Int {
        do throws(SQLiteError) {
            return try openFolder().byteCount(of: Self.rebuildCountName) ?? 0
        } catch {
            throw StoreError(error)
        }
    }

    private mutating func transactionOnce<Value>(
        until end: ContinuousClock.Instant, _ body: (Database) throws(SQLiteError) -> Value
    ) throws(SQLiteError) -> Value {
        let folder = try openFolder()
        var current = database
        defer { database = current }
        return try folder.withLock(.shared, until: end) { () throws(SQLiteError) in
            let known = current.flatMap { $0.hasMoved ? nil : $0 }
            guard known != nil || folder.has(Self.name) else { throw SQLiteError(.missing, "there is no store") }
            let database =
                if let known { known } else { try Database(path: folder.path(Self.name), busyTimeout: .zero) }
            // Set before the file is read, so that damage found there leads to its replacement.
            current = database
            database.wait(until: end)
            if known == nil { try database.script(StoreSchema.settings) }
            return try database.transaction { () throws(SQLiteError) in
                try StoreSchema.check(database)
                return try body(database)
            }
        }
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
                // Another process may have replaced it.
                guard damaged?.hasMoved != true, damaged != nil || !folder.has(Self.name) else { return }
                try EmptyStore.create(in: folder)
                if damaged != nil { folder.lengthen(Self.rebuildCountName) }
            }
        } catch {
            throw StoreError(error)
        }
    }
}

/// Creates an empty store. The caller holds the folder's exclusive lock.
private enum EmptyStore {
    private static let newName = StoreFile.name + ".new"

    static func create(in folder: SharedFolder) throws(SQLiteError) {
        // A process that was killed here may have left these files.
        removeUnfinished(in: folder)
        do throws(SQLiteError) {
            try fill(in: folder)
            // SQLite would apply an old journal to the new file.
            for suffix in ["-journal", "-wal", "-shm"] { folder.remove(StoreFile.name + suffix) }
            try folder.rename(newName, to: StoreFile.name, isLasting: false)
        } catch {
            removeUnfinished(in: folder)
            throw error
        }
    }

    private static func fill(in folder: SharedFolder) throws(SQLiteError) {
        #if os(Linux)
        // SQLite would let others read the file. On Apple's systems SQLite itself must create it with the protection class.
        try folder.create(newName)
        #endif
        let database = try Database(path: folder.path(newName), creates: true, busyTimeout: .zero)
        try folder.restrict(newName)
        try StoreSchema.create(database)
    }

    private static func removeUnfinished(in folder: SharedFolder) {
        folder.remove(newName)
        folder.remove(newName + "-journal")
    }
}
