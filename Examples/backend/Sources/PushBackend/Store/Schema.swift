import GRDB

/// The tables of ``SQLiteStore``. Times are milliseconds since 1970.
enum Schema {
    static func migrate(_ database: some DatabaseWriter) throws {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("one user for each message") { try $0.execute(sql: tables) }
        try migrator.migrate(database)
    }

    /// ```
    /// installation.id        never used again, because deliveries keep it after a sign-out
    /// installation.asked     when its app was asked last to register again; 0 if it needn't
    /// installation.accepted  1 if APNs has accepted a push to its token
    /// delivery.state         0 queued, 1 sent, 2 failed
    /// delivery.is_claimed    1 while an attempt runs
    /// delivery.claimed       when a worker claimed it last
    /// delivery.repeated      1 if the device may get it twice: an answer of APNs was lost, or it was sealed again
    /// delivery.kid, skid     the key that it was sealed to last, and the one that signed it
    /// delivery.outcome       what a receipt says: 'opened' or a class
    /// delivery.changed       when its state changed last
    /// receipt.skid           the signing key that the push named; NULL from an app whose library doesn't report it
    /// ```
    private static let tables = """
        CREATE TABLE installation (
            id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, user TEXT NOT NULL, token TEXT NOT NULL,
            environment TEXT NOT NULL, record BLOB NOT NULL, kid TEXT NOT NULL UNIQUE, registered INTEGER NOT NULL,
            asked INTEGER NOT NULL DEFAULT 0, accepted INTEGER NOT NULL DEFAULT 0, sender_set TEXT,
            UNIQUE (token, environment));
        CREATE INDEX installation_of_user ON installation (user, registered);
        CREATE INDEX installation_that_is_asked ON installation (asked) WHERE asked > 0;
        CREATE TABLE message (
            id TEXT PRIMARY KEY, payload BLOB, priority INTEGER NOT NULL, collapse TEXT, expires INTEGER NOT NULL,
            key TEXT UNIQUE, digest BLOB NOT NULL, deliveries INTEGER NOT NULL);
        CREATE INDEX message_that_expires ON message (expires);
        CREATE INDEX message_with_payload ON message (expires) WHERE payload IS NOT NULL;
        CREATE TABLE delivery (
            id INTEGER PRIMARY KEY, message TEXT REFERENCES message (id), installation INTEGER NOT NULL,
            user TEXT NOT NULL, environment TEXT NOT NULL, kind INTEGER NOT NULL, priority INTEGER NOT NULL,
            expires INTEGER NOT NULL, state INTEGER NOT NULL DEFAULT 0, due INTEGER NOT NULL,
            is_claimed INTEGER NOT NULL DEFAULT 0, claimed INTEGER NOT NULL DEFAULT 0,
            attempts INTEGER NOT NULL DEFAULT 0, repeated INTEGER NOT NULL DEFAULT 0, seals INTEGER NOT NULL DEFAULT 0,
            apns_id TEXT NOT NULL, reason TEXT, kid TEXT, skid TEXT, receipt TEXT, outcome TEXT,
            changed INTEGER NOT NULL);
        CREATE INDEX delivery_queue ON delivery (environment, priority DESC, due) WHERE state = 0;
        CREATE INDEX delivery_that_is_stuck ON delivery (reason) WHERE state = 0 AND attempts >= 8;
        CREATE INDEX delivery_of_installation ON delivery (installation) WHERE state = 0;
        CREATE INDEX delivery_that_expires ON delivery (state, expires);
        CREATE INDEX delivery_of_message ON delivery (message, state, outcome);
        CREATE INDEX delivery_by_receipt ON delivery (receipt) WHERE receipt IS NOT NULL;
        CREATE INDEX delivery_by_key ON delivery (user, kid, changed) WHERE state = 1;
        CREATE TABLE receipt (
            id TEXT PRIMARY KEY, user TEXT NOT NULL, name TEXT, outcome TEXT NOT NULL, kid TEXT, skid TEXT,
            added INTEGER NOT NULL) WITHOUT ROWID;
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
