import Foundation
import GRDB

extension SQLiteStore {
    /// The classes that a new seal can help: with a new registration, with the next signing key, or because the device was
    /// unlocked or its clock was corrected meanwhile.
    private static let sealableAgain: Set<String> = [
        "unknownKey", "keyRevoked", "keyExpired", "undecryptable", "unsupportedSuite",
    ]
    /// How long a device gets to fetch the sender keys, before a push is sealed again.
    private static let patience: Int64 = 2_000

    /// Stores what a user's device says. A push that the device couldn't open is sent again if a new seal can help. Only a user's
    /// latest receipts are kept.
    func add(_ receipt: DeviceReceipt, of user: String, at time: Int64) async throws {
        try await write { db in
            try db.execute(
                sql: "INSERT OR IGNORE INTO receipt VALUES (?, ?, ?, ?, ?, ?, ?)",
                arguments: [
                    receipt.id, user, receipt.name, receipt.failure ?? "opened", receipt.kid, receipt.skid, time,
                ])
            guard db.changesCount > 0 else { return }
            try Self.removeOldest("receipt", of: user, beyond: Self.largestReceiptCount, db)
            if let name = receipt.name {
                try Self.confirm(name, receipt.failure ?? "opened", of: user, db)
            } else if let kid = receipt.kid, let failure = receipt.failure {
                try Self.handle(failure, receipt, kid: kid, of: user, at: time, db)
            }
        }
    }

    private static func confirm(_ name: String, _ outcome: String, of user: String, _ db: Database) throws {
        // A repeated push is reported as `replayed` after the first one was opened.
        try db.execute(
            sql: """
                UPDATE delivery SET outcome = ?, state = 1, reason = NULL
                WHERE receipt = ? AND (outcome IS NULL OR outcome <> 'opened')
                    AND (? <> 'replayed' OR outcome IS NULL)
                    AND user = ?
                """,
            arguments: [outcome, name, outcome, user])
    }

    /// A device that couldn't open a push doesn't know its name: it is one of those that were sealed to this key, signed by this
    /// one, and that no receipt has confirmed. What was sealed again with another signing key since isn't among them.
    private static func handle(
        _ failure: String, _ receipt: DeviceReceipt, kid: String, of user: String, at time: Int64,
        _ db: Database
    ) throws {
        // The app may have registered after it has seen the failure, and wouldn't do it again.
        if failure == "unknownKey",
            let installation = try Int64.fetchOne(
                db, sql: "SELECT id FROM installation WHERE kid = ? AND user = ? AND registered < ?",
                arguments: [kid, user, receipt.time + 1_000])
        {
            try askForRegistration(of: installation, at: time, db)
        }
        guard sealableAgain.contains(failure) else { return }
        let skid = receipt.skid
        try sealAgain(
            "user = ? AND kid = ? AND state = 1 AND kind = 0 AND (? IS NULL OR skid IS NULL OR skid = ?)",
            [user, kid, skid, skid], failure, at: time, db)
    }

    /// Queues pushes that a device couldn't open, or reports them as failed if they can't be sealed again: after three seals, without
    /// the payload, or without an installation. Earlier pushes stay as they are: without their payload, nothing can be done.
    ///
    /// A push that was opened is among them only if the device may have got it twice: then the second one may have covered its text
    /// with the placeholder.
    private static func sealAgain(
        _ condition: String, _ arguments: StatementArguments, _ failure: String, at time: Int64,
        _ db: Database
    ) throws {
        let scope = "\(condition) AND changed > ? AND (outcome IS NULL OR repeated)"
        let arguments = arguments + [time - keepsPayloadFor]
        let due: StatementArguments = [time + patience, failure, time]
        let limits: StatementArguments = [largestSealCount, time]
        try db.execute(
            sql: """
                UPDATE delivery SET state = 0, due = ?, is_claimed = 0, repeated = 1, reason = ?, changed = ?,
                    environment = (SELECT environment FROM installation WHERE id = delivery.installation)
                WHERE \(scope) AND seals < ? AND expires > ?
                    AND message IN (SELECT id FROM message WHERE payload IS NOT NULL)
                    AND installation IN (SELECT id FROM installation)
                """,
            arguments: due + arguments + limits)
        try db.execute(
            sql: "UPDATE delivery SET state = 2, reason = ?, changed = ? WHERE \(scope)",
            arguments: [failure, time] + arguments)
    }

    /// A device may have said that it couldn't open a push before it is known here that APNs has accepted it. It may have opened
    /// an earlier copy, whose text this one has covered.
    static func handleEarlyReceipt(for delivery: Int64, at time: Int64, _ db: Database) throws {
        let failure = try db.cachedStatement(
            sql: """
                SELECT r.outcome FROM delivery d JOIN receipt r ON r.user = d.user AND r.kid = d.kid AND r.name IS NULL
                    AND r.added >= d.claimed AND (r.skid IS NULL OR d.skid IS NULL OR r.skid = d.skid)
                WHERE d.id = ? AND d.state = 1 AND (d.outcome IS NULL OR d.repeated) AND d.kind = 0 ORDER BY r.added DESC LIMIT 1
                """)
        guard let failure = try String.fetchOne(failure, arguments: [delivery]), sealableAgain.contains(failure) else {
            return
        }
        try sealAgain("id = ? AND state = 1", [delivery], failure, at: time, db)
    }

    /// How long a silent push that asks an app to register is valid. The system may drop it, so another one follows then.
    static let requestValidity: Int64 = 86_400_000

    /// Seals nothing more to the key, and asks the app by a silent push, at most once a day.
    static func askForRegistration(of installation: Int64, at time: Int64, _ db: Database) throws {
        try db.execute(
            sql: "UPDATE installation SET asked = ? WHERE id = ? AND (asked = 0 OR asked <= ?)",
            arguments: [time, installation, time - requestValidity])
        guard db.changesCount > 0 else { return }
        try db.execute(
            sql: """
                INSERT INTO delivery
                    (installation, user, environment, kind, priority, expires, due, apns_id, changed)
                SELECT id, user, environment, 1, 5, ?, ?, \(Self.randomUUID), ? FROM installation WHERE id = ?
                """,
            arguments: [time + requestValidity, time, time, installation])
    }
}
