import GRDB

/// The tables of ``SQLiteStore``. Times are milliseconds since 1970.
enum Schema {
    static func migrate(_ database: some DatabaseWriter) throws {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1") { try $0.execute(sql: first) }
        try migrator.migrate(database)
    }

    /// ```
    /// delivery.state    0 queued, 1 sent, 2 failed
    /// delivery.leased   until when a worker has claimed it; 0 if none has
    /// delivery.claimed  when a worker claimed it last
    /// delivery.outcome  what a receipt says: 'opened' or a class
    /// ```
    private static let first = """
        CREATE TABLE installation (
            id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, user TEXT NOT NULL, token TEXT NOT NULL,
            environment TEXT NOT NULL, record BLOB NOT NULL, kid TEXT NOT NULL UNIQUE, registered INTEGER NOT NULL,
            asks INTEGER NOT NULL DEFAULT 0, sender_set TEXT, UNIQUE (token, environment));
        CREATE INDEX installation_of_user ON installation (user);
        CREATE TABLE segment (
            name TEXT NOT NULL, installation INTEGER NOT NULL REFERENCES installation (id) ON DELETE CASCADE,
            PRIMARY KEY (name, installation)) WITHOUT ROWID;
        CREATE INDEX segment_of_installation ON segment (installation);
        CREATE TABLE message (
            id TEXT PRIMARY KEY, payload BLOB, priority INTEGER NOT NULL, collapse TEXT, expires INTEGER NOT NULL,
            key TEXT UNIQUE, digest BLOB NOT NULL, deliveries INTEGER NOT NULL, finished INTEGER);
        CREATE INDEX message_with_payload ON message (expires) WHERE payload IS NOT NULL;
        CREATE TABLE delivery (
            id INTEGER PRIMARY KEY, message TEXT REFERENCES message (id), installation INTEGER NOT NULL,
            user TEXT NOT NULL, environment TEXT NOT NULL, kind INTEGER NOT NULL, priority INTEGER NOT NULL, expires INTEGER NOT NULL,
            state INTEGER NOT NULL DEFAULT 0, due INTEGER NOT NULL, leased INTEGER NOT NULL DEFAULT 0,
            claimed INTEGER NOT NULL DEFAULT 0,
            attempts INTEGER NOT NULL DEFAULT 0, seals INTEGER NOT NULL DEFAULT 0, apns_id TEXT NOT NULL, reason TEXT,
            kid TEXT, receipt TEXT, outcome TEXT, changed INTEGER NOT NULL);
        CREATE INDEX delivery_queue ON delivery (environment, priority DESC, due) WHERE state = 0;
        CREATE INDEX delivery_of_installation ON delivery (installation) WHERE state = 0;
        CREATE INDEX delivery_that_expires ON delivery (expires) WHERE state = 0;
        CREATE INDEX delivery_of_message ON delivery (message, state, outcome);
        CREATE INDEX delivery_by_receipt ON delivery (receipt) WHERE receipt IS NOT NULL;
        CREATE INDEX delivery_by_key ON delivery (user, kid) WHERE state = 1;
        CREATE TABLE receipt (
            id TEXT PRIMARY KEY, user TEXT NOT NULL, name TEXT, outcome TEXT NOT NULL, kid TEXT, added INTEGER NOT NULL
            ) WITHOUT ROWID;
        CREATE INDEX receipt_by_name ON receipt (name) WHERE name IS NOT NULL;
        CREATE INDEX receipt_without_name ON receipt (user, kid, added) WHERE name IS NULL;
        CREATE TABLE pending (
            id TEXT PRIMARY KEY, user TEXT NOT NULL, value BLOB NOT NULL, added INTEGER NOT NULL) WITHOUT ROWID;
        CREATE INDEX pending_by_age ON pending (added);
        CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
        """
}
