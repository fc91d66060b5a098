import PushCryptSQLite

/// The tables of the database.
///
/// ```
/// reader    L, H, since and the floor of each role, with a digest of these columns
/// message   the names of the messages that a role has claimed, with the claim's token; claimed is null after the message
///           was seen; applied: whether its effects were applied
/// counter   kind 0: opened, 1: failed as NAME, 2: stage NAME ended as ENDING, 3: suppressed,
///           4: handled by the extension's version NAME; recent: since advice was last taken
/// moment    the last time of "selfTest" and "advice"
/// receipt   the receipts that wait to be sent
/// tombstone the name of each retracted message, with the profile and the iat of the message that retracted it
/// shown     the system's name of each notification, with the message's name, its profile, the time of its claim, and the
///           time from which it is to be removed from the screen: exp, or 0 if the message was retracted
/// badge     the number on the app's icon, and the iat of the last message that set it
/// restored  see ``RestoredNotifications``
/// ```
/// A message's name is M of PROTOCOL section 4, as base64url.
///
/// The extension alone writes the last four; the app sets the badge and removes from `shown`.
enum StoreSchema {
    static let version: Int64 = 3

    /// The version is stored a second time in this field, to detect accidental changes.
    private static let application: Int64 = 0x5043_0000

    /// The settings of every connection. In this journal mode an idle connection has no lock and no shared memory, and the
    /// journal keeps its blocks: to allocate and free them takes an eighth of a push's time, and longer on a busy disk.
    /// Nothing waits for the disk: ``SharedStore`` says what a loss of power can undo.
    static let settings: StaticString = """
        PRAGMA journal_mode = PERSIST;
        PRAGMA journal_size_limit = 131072;
        PRAGMA synchronous = OFF;
        PRAGMA cache_size = -128;
        PRAGMA mmap_size = 0;
        PRAGMA temp_store = MEMORY;
        PRAGMA trusted_schema = OFF;
        PRAGMA cell_size_check = ON;
        """

    /// The tables, in a new file that no other process uses yet.
    private static let creation: StaticString = """
        PRAGMA journal_mode = MEMORY;
        PRAGMA synchronous = OFF;
        PRAGMA page_size = 4096;
        BEGIN;
        CREATE TABLE reader (role INTEGER PRIMARY KEY, latest INTEGER, confirmed INTEGER, since INTEGER, floor INTEGER,
            digest INTEGER NOT NULL);
        CREATE TABLE message (role INTEGER NOT NULL, name TEXT NOT NULL, iat INTEGER NOT NULL, claimed INTEGER,
            token INTEGER NOT NULL, applied INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (role, name)) WITHOUT ROWID;
        CREATE INDEX message_iat ON message (role, iat);
        CREATE TABLE counter (kind INTEGER NOT NULL, name TEXT NOT NULL, ending TEXT NOT NULL, count INTEGER NOT NULL,
            recent INTEGER NOT NULL, time INTEGER NOT NULL, kid TEXT, PRIMARY KEY (kind, name, ending)) WITHOUT ROWID;
        CREATE TABLE moment (name TEXT PRIMARY KEY, time INTEGER NOT NULL) WITHOUT ROWID;
        CREATE TABLE receipt (number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, time INTEGER NOT NULL,
            failed INTEGER NOT NULL, body TEXT NOT NULL);
        CREATE TABLE tombstone (name TEXT NOT NULL, profile INTEGER NOT NULL, iat INTEGER NOT NULL,
            PRIMARY KEY (name, profile)) WITHOUT ROWID;
        CREATE INDEX tombstone_iat ON tombstone (iat);
        CREATE TABLE shown (number INTEGER PRIMARY KEY, request TEXT NOT NULL UNIQUE, name TEXT NOT NULL,
            profile INTEGER NOT NULL, time INTEGER NOT NULL, expires INTEGER NOT NULL);
        CREATE INDEX shown_name ON shown (name);
        CREATE TABLE badge (number INTEGER PRIMARY KEY CHECK (number = 1), value INTEGER NOT NULL, iat INTEGER);
        CREATE TABLE restored (number INTEGER PRIMARY KEY, digest TEXT NOT NULL UNIQUE, message TEXT NOT NULL,
            expires INTEGER NOT NULL);
        PRAGMA application_id = 0x50430003;
        PRAGMA user_version = 3;
        COMMIT;
        """

    /// Creates the tables in an empty database that no other process uses yet.
    static func create(_ database: Database) throws(SQLiteError) { try database.script(creation) }

    /// Throws `newer` for a later version, and `damaged` for any other file: a store of a version before the first release is
    /// replaced, too.
    static func check(_ database: Database) throws(SQLiteError) {
        let application = try database.integer("PRAGMA application_id") ?? 0
        let version = try database.integer("PRAGMA user_version") ?? 0
        guard version >= Self.version, application == Self.application | version else {
            throw SQLiteError(.damaged, "the file is not a store")
        }
        guard version == Self.version else {
            throw SQLiteError(.newer, "the store has version \(version); this library supports \(Self.version)")
        }
    }
}
