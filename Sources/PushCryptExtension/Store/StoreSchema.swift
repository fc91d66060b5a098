import PushCryptSQLite

/// What the database holds.
///
/// ```
/// reader    L, H, since when L is above H, and the floor of each role; the digest is of the other columns
/// message   the ids that a role has claimed, and by which claim; claimed is null once the message was seen
/// counter   kind 0: opened, 1: failed as NAME, 2: stage NAME ended as ENDING; recent: since advice was last taken
/// moment    when something happened last: "selfTest", "advice"
/// receipt   what the backend is still to hear
/// ```
enum StoreSchema {
    static let version: Int64 = 1

    /// The version a second time, in another field: where one of them was changed by accident they don't agree.
    private static let application: Int64 = 0x5043_0000

    /// Every connection begins with it. An idle connection in this journal mode holds no lock, and maps no memory that
    /// it shares with others.
    static let settings: StaticString = """
        PRAGMA journal_mode = TRUNCATE;
        PRAGMA synchronous = FULL;
        PRAGMA cache_size = -128;
        PRAGMA mmap_size = 0;
        PRAGMA temp_store = MEMORY;
        PRAGMA trusted_schema = OFF;
        PRAGMA cell_size_check = ON;
        """

    /// For a file that nobody else sees yet.
    static let creation: StaticString = """
        PRAGMA journal_mode = MEMORY;
        PRAGMA synchronous = FULL;
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
        let application = try database.first("PRAGMA application_id") { $0.integer(0) ?? 0 } ?? 0
        let version = try database.first("PRAGMA user_version") { $0.integer(0) ?? 0 } ?? 0
        guard version > 0, application == Self.application | version else {
            throw SQLiteError(.damaged, "the file isn't a store")
        }
        guard version == Self.version else {
            throw SQLiteError(.newer, "the store has version \(version), and this code knows \(Self.version)")
        }
    }
}
