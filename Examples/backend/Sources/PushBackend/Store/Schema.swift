import GRDB

/// The tables of ``SQLiteStore``. Times are milliseconds since 1970.
enum Schema {
    static func migrate(_ database: some DatabaseWriter) throws {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1") { try $0.execute(sql: first) }
        migrator.registerMigration("2") { try $0.execute(sql: "ALTER TABLE pending ADD COLUMN ended TEXT") }
        migrator.registerMigration("3") { db in
            for table in ["delivery", "receipt"] { try db.execute(sql: "ALTER TABLE \(table) ADD COLUMN skid TEXT") }
        }
        migrator.registerMigration("4") {
            try $0.execute(
                sql: "CREATE INDEX delivery_that_is_stuck ON delivery (reason) WHERE state = 0 AND attempts >= 8")
        }
        try migrator.migrate(database)
    }

    /// ```
    /// installation.id        never used again, because deliveries keep it after a sign-out
    /// installation.asked     when its app was asked last to register again; 0 if it needn't
    /// installation.accepted  1 if APNs has accepted a push to its token
    /// delivery.segment       1 if its message is to a segment
    /// delivery.state         0 queued, 1 sent, 2 failed
    /// delivery.leased        until when a worker has claimed it; 0 if none has
    /// delivery.claimed       when a worker claimed it last
    /// delivery.repeated      1 if the device may get it twice: an answer of APNs was lost, or it was sealed again
    /// delivery.outcome       what a receipt says: 'opened' or a class
    /// delivery.changed       when its state changed last
    /// delivery.skid          the key that signed it last; NULL before the first seal and in rows of an earlier version
    /// receipt.skid           the signing key that the push named; NULL from an app whose library doesn't report it
    /// pending.ended          'answered' or 'expired', and value is empty then; NULL while it waits for an answer
    /// ```
    private static let first = """
        CREATE TABLE installation (
            id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, user TEXT NOT NULL, token TEXT NOT NULL,
            environment TEXT NOT NULL, record BLOB NOT NULL, kid TEXT NOT NULL UNIQUE, registered INTEGER NOT NULL,
            asked INTEGER NOT NULL DEFAULT 0, accepted INTEGER NOT NULL DEFAULT 0, sender_set TEXT,
            UNIQUE (token, environment));
        CREATE INDEX installation_of_user ON installation (user, registered);
        CREATE INDEX installation_that_is_asked ON installation (asked) WHERE asked > 0;
        CREATE TABLE segment (name TEXT NOT NULL, user TEXT NOT NULL, PRIMARY KEY (name, user)) WITHOUT ROWID;
        CREATE INDEX segment_of_user ON segment (user);
        CREATE TABLE message (
            id TEXT PRIMARY KEY, payload BLOB, priority INTEGER NOT NULL, collapse TEXT, expires INTEGER NOT NULL,
            key TEXT UNIQUE, digest BLOB NOT NULL, deliveries INTEGER NOT NULL);
        CREATE INDEX message_that_expires ON message (expires);
        CREATE INDEX message_with_payload ON message (expires) WHERE payload IS NOT NULL;
        CREATE TABLE delivery (
            id INTEGER PRIMARY KEY, message TEXT REFERENCES message (id), installation INTEGER NOT NULL,
            user TEXT NOT NULL, environment TEXT NOT NULL, kind INTEGER NOT NULL, priority INTEGER NOT NULL,
            segment INTEGER NOT NULL, expires INTEGER NOT NULL, state INTEGER NOT NULL DEFAULT 0, due INTEGER NOT NULL,
            leased INTEGER NOT NULL DEFAULT 0, claimed INTEGER NOT NULL DEFAULT 0, attempts INTEGER NOT NULL DEFAULT 0,
            repeated INTEGER NOT NULL DEFAULT 0, seals INTEGER NOT NULL DEFAULT 0, apns_id TEXT NOT NULL, reason TEXT,
            kid TEXT, receipt TEXT, outcome TEXT, changed INTEGER NOT NULL);
        CREATE INDEX delivery_queue ON delivery (environment, priority DESC, segment, due) WHERE state = 0;
        CREATE INDEX delivery_of_installation ON delivery (installation) WHERE state = 0;
        CREATE INDEX delivery_that_expires ON delivery (state, expires);
        CREATE INDEX delivery_of_message ON delivery (message, state, outcome);
        CREATE INDEX delivery_by_receipt ON delivery (receipt) WHERE receipt IS NOT NULL;
        CREATE INDEX delivery_by_key ON delivery (user, kid, changed) WHERE state = 1;
        CREATE TABLE receipt (
            id TEXT PRIMARY KEY, user TEXT NOT NULL, name TEXT, outcome TEXT NOT NULL, kid TEXT, added INTEGER NOT NULL
            ) WITHOUT ROWID;
        CREATE INDEX receipt_by_age ON receipt (added);
        CREATE INDEX receipt_by_name ON receipt (name) WHERE name IS NOT NULL;
        CREATE INDEX receipt_of_user ON receipt (user, added);
        CREATE INDEX receipt_without_name ON receipt (user, kid, added) WHERE name IS NULL;
        CREATE TABLE pending (
            id TEXT PRIMARY KEY, user TEXT NOT NULL, value BLOB NOT NULL, added INTEGER NOT NULL) WITHOUT ROWID;
        CREATE INDEX pending_by_age ON pending (added);
        CREATE INDEX pending_of_user ON pending (user, added);
        CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
        """
}
