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
                if known == nil { try database.script(RestoredNotifications.creation) }
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
        try database.script(StoreSchema.creation)
    }

    private static func removeUnfinished(in folder: SharedFolder) {
        folder.remove(newName)
        folder.remove(newName + "-journal")
    }
}

/// The tables of the database.
///
/// ```
/// reader    L, H, since and the floor of each role, with a digest of these columns
/// message   the ids that a role has claimed, with the claim's token; claimed is null after the message was seen
/// counter   kind 0: opened, 1: failed as NAME, 2: stage NAME ended as ENDING; recent: since advice was last taken
/// moment    the last time of "selfTest" and "advice"
/// receipt   the receipts that wait to be sent
/// ```
enum StoreSchema {
    static let version: Int64 = 1

    /// The version is stored a second time in this field, to detect accidental changes.
    private static let application: Int64 = 0x5043_0000

    /// The settings of every connection. In this journal mode an idle connection has no lock and no shared memory. Nothing
    /// waits for the disk: ``SharedStore`` says what a loss of power can undo.
    static let settings: StaticString = """
        PRAGMA journal_mode = TRUNCATE;
        PRAGMA synchronous = OFF;
        PRAGMA cache_size = -128;
        PRAGMA mmap_size = 0;
        PRAGMA temp_store = MEMORY;
        PRAGMA trusted_schema = OFF;
        PRAGMA cell_size_check = ON;
        """

    /// Creates the tables in a new file that no other process uses yet.
    static let creation: StaticString = """
        PRAGMA journal_mode = MEMORY;
        PRAGMA synchronous = OFF;
        PRAGMA page_size = 4096;
        BEGIN;
        CREATE TABLE reader (role INTEGER PRIMARY KEY, latest INTEGER, confirmed INTEGER, since INTEGER, floor INTEGER,
            digest INTEGER NOT NULL);
        CREATE TABLE message (role INTEGER NOT NULL, id TEXT NOT NULL, iat INTEGER NOT NULL, claimed INTEGER,
            token INTEGER NOT NULL, PRIMARY KEY (role, id)) WITHOUT ROWID;
        CREATE INDEX message_iat ON message (role, iat);
        CREATE TABLE counter (kind INTEGER NOT NULL, name TEXT NOT NULL, ending TEXT NOT NULL, count INTEGER NOT NULL,
            recent INTEGER NOT NULL, time INTEGER NOT NULL, kid TEXT, PRIMARY KEY (kind, name, ending)) WITHOUT ROWID;
        CREATE TABLE moment (name TEXT PRIMARY KEY, time INTEGER NOT NULL) WITHOUT ROWID;
        CREATE TABLE receipt (number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, time INTEGER NOT NULL,
            failed INTEGER NOT NULL, body TEXT NOT NULL);
        PRAGMA application_id = 0x50430001;
        PRAGMA user_version = 1;
        COMMIT;
        """

    /// Throws unless the database has this version.
    static func check(_ database: Database) throws(SQLiteError) {
        let application = try database.integer("PRAGMA application_id") ?? 0
        let version = try database.integer("PRAGMA user_version") ?? 0
        guard version > 0, application == Self.application | version else {
            throw SQLiteError(.damaged, "the file is not a store")
        }
        guard version == Self.version else {
            throw SQLiteError(.newer, "the store has version \(version); this library supports \(Self.version)")
        }
    }
}
