import PushCryptSQLite

/// What an index holds: names and places, nothing of any key.
///
/// ```
/// place     where in the file the record of a name lies; rival: the first line with another key of that name
/// skipped   the first lines that no name leads to
/// source    the file of which it is the index, and how much of it
/// ```
enum IndexSchema {
    static let version: Int64 = 1

    static let creation: StaticString = """
        CREATE TABLE place (kid TEXT NOT NULL, device TEXT NOT NULL, line INTEGER NOT NULL, offset INTEGER NOT NULL,
            length INTEGER NOT NULL, rival INTEGER, PRIMARY KEY (kid, device)) WITHOUT ROWID;
        CREATE TABLE skipped (line INTEGER PRIMARY KEY, reason TEXT NOT NULL);
        CREATE TABLE source (inode INTEGER NOT NULL, size INTEGER NOT NULL, modified INTEGER NOT NULL,
            indexed INTEGER NOT NULL, probe TEXT NOT NULL, digest TEXT NOT NULL, lines INTEGER NOT NULL,
            recipients INTEGER NOT NULL, duplicates INTEGER NOT NULL, collisions INTEGER NOT NULL,
            skipped INTEGER NOT NULL, tail INTEGER NOT NULL);
        PRAGMA application_id = 0x50434901;
        PRAGMA user_version = 1;
        """

    private static let application: Int64 = 0x5043_4900

    /// For a file that nobody else sees yet: it is thrown away unless all of it was written.
    static let building: StaticString = """
        PRAGMA journal_mode = OFF;
        PRAGMA synchronous = FULL;
        PRAGMA locking_mode = EXCLUSIVE;
        PRAGMA cache_size = -32768;
        PRAGMA temp_store = FILE;
        PRAGMA temp.journal_mode = OFF;
        PRAGMA temp.cache_size = -8192;
        """

    static let reading: StaticString = """
        PRAGMA cache_size = -2048;
        PRAGMA mmap_size = 0;
        PRAGMA trusted_schema = OFF;
        PRAGMA cell_size_check = ON;
        """

    /// Throws unless the database is an index of this version.
    static func check(_ database: Database) throws(SQLiteError) {
        let application = try database.first("PRAGMA application_id") { $0.integer(0) ?? 0 } ?? 0
        let version = try database.first("PRAGMA user_version") { $0.integer(0) ?? 0 } ?? 0
        guard version == Self.version, application == Self.application | version else {
            throw SQLiteError(.damaged, "the file isn't an index")
        }
    }
}
