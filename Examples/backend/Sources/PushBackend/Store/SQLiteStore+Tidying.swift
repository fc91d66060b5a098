import Foundation
import GRDB
import PushCryptSender

extension SQLiteStore {
    /// How many rows of one kind are changed in one transaction.
    private static let portion = 1_000

    @discardableResult
    public func tidy(at time: Int64) async throws -> Bool {
        try await write { [options] db in
            try db.execute(
                sql: "UPDATE pending SET value = x'', ended = 'expired' WHERE ended IS NULL AND added < ?",
                arguments: [time - PendingRegistration.validityInSeconds * 1_000])
            try db.execute(sql: "DELETE FROM pending WHERE added < ?", arguments: [time - 86_400_000])
            let counts = [
                try Self.failExpired(at: time, db), try Self.erasePayloads(at: time, options, db),
                try Self.removeEnded(before: time - options.keepsEndedFor, db), try Self.askAgain(at: time, db),
            ]
            return counts.contains { $0 >= Self.portion }
        }
    }

    /// - Returns: how many rows were changed.
    private static func failExpired(at time: Int64, _ db: Database) throws -> Int {
        try db.execute(
            sql: """
                UPDATE delivery SET state = 2, reason = 'expired', changed = ? WHERE id IN
                    (SELECT id FROM delivery WHERE state = 0 AND expires <= ? AND leased <= ? LIMIT \(portion))
                """,
            arguments: [time, time, time])
        return db.changesCount
    }

    /// Erases the payloads that no delivery needs: neither to be sent, nor to be sealed again for an installation that is there.
    private static func erasePayloads(at time: Int64, _ options: Options, _ db: Database) throws -> Int {
        try db.execute(
            sql: """
                UPDATE message SET payload = NULL WHERE id IN (
                    SELECT id FROM message m WHERE payload IS NOT NULL AND NOT EXISTS (
                        SELECT 1 FROM delivery d WHERE d.message = m.id AND (d.state = 0
                            OR d.state = 1 AND (d.outcome IS NULL OR d.repeated) AND d.changed > ? AND d.expires > ?
                                AND d.installation IN (SELECT id FROM installation)))
                    LIMIT \(portion))
                """,
            arguments: [time - options.keepsPayloadFor, time])
        return db.changesCount
    }

    /// Removes deliveries, then the messages without any, and receipts.
    private static func removeEnded(before time: Int64, _ db: Database) throws -> Int {
        let parts = [
            ("delivery", "state IN (1, 2) AND expires <= ?"),
            ("message", "expires <= ? AND NOT EXISTS (SELECT 1 FROM delivery d WHERE d.message = message.id)"),
            ("receipt", "added <= ?"),
        ]
        return try parts.reduce(0) { largest, part in
            let (table, condition) = part
            try db.execute(
                sql: "DELETE FROM \(table) WHERE id IN (SELECT id FROM \(table) WHERE \(condition) LIMIT \(portion))",
                arguments: [time])
            return max(largest, db.changesCount)
        }
    }

    /// Asks the apps again that haven't registered for a day.
    private static func askAgain(at time: Int64, _ db: Database) throws -> Int {
        let installations = try Int64.fetchAll(
            db, sql: "SELECT id FROM installation WHERE asked BETWEEN 1 AND ? LIMIT \(portion)",
            arguments: [time - requestValidity])
        for id in installations { try askForRegistration(of: id, at: time, db) }
        return installations.count
    }
}
