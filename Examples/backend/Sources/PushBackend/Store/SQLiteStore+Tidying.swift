import Foundation
import GRDB
import PushCryptSender

extension SQLiteStore {
    /// Fails what has expired, erases the payloads that nothing needs any more, removes what has ended long ago, and asks apps
    /// again that haven't registered for a day.
    func tidy(at time: Int64) async throws {
        try await write { db in
            try db.execute(
                sql: "DELETE FROM pending WHERE added < ?",
                arguments: [time - PendingRegistration.validityInSeconds * 1_000])
            try db.execute(
                sql: """
                    UPDATE delivery SET state = 2, reason = 'expired', changed = ?
                    WHERE state = 0 AND expires <= ? AND NOT is_claimed
                    """,
                arguments: [time, time])
            try Self.erasePayloads(at: time, db)
            try Self.removeEnded(before: time - Self.keepsEndedFor, db)
            let asked = try Int64.fetchAll(
                db, sql: "SELECT id FROM installation WHERE asked BETWEEN 1 AND ?",
                arguments: [time - Self.requestValidity])
            for id in asked { try Self.askForRegistration(of: id, at: time, db) }
        }
    }

    /// Erases the payloads that no delivery needs: neither to be sent, nor to be sealed again for an installation that is there.
    private static func erasePayloads(at time: Int64, _ db: Database) throws {
        try db.execute(
            sql: """
                UPDATE message SET payload = NULL WHERE payload IS NOT NULL AND NOT EXISTS (
                    SELECT 1 FROM delivery d WHERE d.message = message.id AND (d.state = 0
                        OR d.state = 1 AND (d.outcome IS NULL OR d.repeated) AND d.changed > ? AND d.expires > ?
                            AND d.installation IN (SELECT id FROM installation)))
                """,
            arguments: [time - keepsPayloadFor, time])
    }

    /// Removes deliveries, then the messages without any, and receipts.
    private static func removeEnded(before time: Int64, _ db: Database) throws {
        for condition in [
            "delivery WHERE state IN (1, 2) AND expires <= ?",
            "message WHERE expires <= ? AND NOT EXISTS (SELECT 1 FROM delivery d WHERE d.message = message.id)",
            "receipt WHERE added <= ?",
        ] { try db.execute(sql: "DELETE FROM \(condition)", arguments: [time]) }
    }
}
