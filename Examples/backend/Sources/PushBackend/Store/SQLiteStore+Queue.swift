import Crypto
import Foundation
import GRDB
import PushCryptSender

extension SQLiteStore {
    public func accept(_ message: NewMessage, at time: Int64) async throws -> AcceptedMessage {
        try await write { db in
            let digest = message.digest
            if let key = message.idempotencyKey,
                let row = try Row.fetchOne(
                    db, sql: "SELECT id, digest, deliveries FROM message WHERE key = ?", arguments: [key])
            {
                guard row["digest"] == digest else {
                    throw StoreError(code: .conflict, reason: "the idempotency key was used for another message")
                }
                return AcceptedMessage(id: row["id"], deliveryCount: row["deliveries"])
            }
            let id = UUID().uuidString.lowercased()
            try db.execute(
                sql: """
                    INSERT INTO message (id, payload, priority, collapse, expires, key, digest, deliveries)
                    VALUES (?, ?, ?, ?, ?, ?, ?, 0)
                    """,
                arguments: [
                    id, message.payload, message.priority, message.collapseID, message.expiresAt,
                    message.idempotencyKey, digest,
                ])
            let (source, name) = message.audience.source
            // A version 4 UUID from SQLite's random numbers, which are seeded by the system.
            try db.execute(
                sql: """
                    INSERT INTO delivery
                        (message, installation, user, environment, kind, priority, expires, due, apns_id, changed)
                    SELECT ?, i.id, i.user, i.environment, 0, ?, ?, ?, \(Self.randomUUID), ? FROM \(source)
                    """,
                arguments: [id, message.priority, message.expiresAt, time, time, name])
            let count = db.changesCount
            try db.execute(sql: "UPDATE message SET deliveries = ? WHERE id = ?", arguments: [count, id])
            return AcceptedMessage(id: id, deliveryCount: count)
        }
    }

    static let randomUUID = """
        lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || '-a' \
        || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)))
        """

    public func claim(
        _ limit: Int, for environment: APNsEnvironment, at time: Int64, until lease: Int64
    ) async throws -> [ClaimedDelivery] {
        // It reads first, so that an idle service writes nothing.
        let due = try await read { try Self.dueDeliveries($0, limit, environment, time) }
        guard !due.isEmpty else { return [] }
        return try await write { db in
            let due = try Self.dueDeliveries(db, limit, environment, time)
            for id in due {
                try db.cachedStatement(
                    sql: "UPDATE delivery SET leased = ?, claimed = ?, attempts = attempts + 1 WHERE id = ?"
                )
                .execute(arguments: [lease, time, id])
            }
            let select = try db.cachedStatement(
                sql: """
                    SELECT d.*, i.token, i.record, i.kid AS current, i.registered, m.payload, m.collapse
                    FROM delivery d JOIN installation i ON i.id = d.installation LEFT JOIN message m ON m.id = d.message
                    WHERE d.id = ?
                    """)
            return try due.compactMap { try Row.fetchOne(select, arguments: [$0]) }.map(ClaimedDelivery.init)
        }
    }

    private static func dueDeliveries(
        _ db: Database, _ limit: Int, _ environment: APNsEnvironment, _ time: Int64
    ) throws -> [Int64] {
        let statement = try db.cachedStatement(
            sql: """
                SELECT d.id FROM delivery d INDEXED BY delivery_queue JOIN installation i ON i.id = d.installation
                WHERE d.state = 0 AND d.environment = ? AND d.due <= ? AND d.leased <= ? AND d.expires > ?
                    AND (i.asks = 0 OR d.kind = 1)
                ORDER BY d.priority DESC, d.due LIMIT ?
                """)
        return try Int64.fetchAll(statement, arguments: [environment.rawValue, time, time, time, limit])
    }

    public func record(_ outcomes: [DeliveryOutcome], at time: Int64) async throws {
        try await write { [options] db in
            for outcome in outcomes { try Self.record(outcome, at: time, options, db) }
        }
    }

    private static func record(
        _ outcome: DeliveryOutcome, at time: Int64, _ options: Options, _ db: Database
    ) throws {
        switch outcome.result {
        case .sent(let name):
            // The receipt may have arrived before APNs' answer is stored.
            try db.cachedStatement(
                sql: """
                    UPDATE delivery SET state = 1, leased = 0, reason = NULL, kid = ?, receipt = ?, changed = ?,
                        seals = seals + 1, outcome = (SELECT outcome FROM receipt WHERE name = ?)
                    WHERE id = ? AND state = 0
                    """
            ).execute(arguments: [outcome.kid, name, time, name, outcome.id])
            try handleEarlyReceipt(for: outcome.id, at: time, options, db)
        case .retry(let due, let reason):
            try db.cachedStatement(
                sql: "UPDATE delivery SET leased = 0, due = ?, reason = ?, changed = ? WHERE id = ? AND state = 0"
            ).execute(arguments: [due, reason, time, outcome.id])
        case .failed(let reason):
            try db.cachedStatement(
                sql: "UPDATE delivery SET state = 2, leased = 0, reason = ?, changed = ? WHERE id = ? AND state = 0"
            ).execute(arguments: [reason, time, outcome.id])
        case .tokenEnded(let ended, let reason):
            let row = try Row.fetchOne(
                db,
                sql: """
                    SELECT i.id, i.registered FROM installation i JOIN delivery d ON d.installation = i.id WHERE d.id = ?
                    """,
                arguments: [outcome.id])
            if let row {
                let registered: Int64 = row["registered"]
                if registered <= ended { try remove(row["id"], reason: reason, at: time, db) }
            }
            // Still queued: the app has registered since, and the token may be valid again.
            try db.execute(
                sql: "UPDATE delivery SET leased = 0, due = ?, reason = ? WHERE id = ? AND state = 0",
                arguments: [time + 1_000, reason, outcome.id])
        }
    }

    public func queueDepth() async throws -> Int {
        try await read { try Int.fetchOne($0, sql: "SELECT count(*) FROM delivery WHERE state = 0") ?? 0 }
    }

    @discardableResult
    public func tidy(at time: Int64) async throws -> Bool {
        let limit = 1_000
        return try await write { [keepsPayloadFor = options.keepsPayloadFor] db in
            try db.execute(
                sql: "DELETE FROM pending WHERE added < ?",
                arguments: [time - PendingRegistration.validityInSeconds * 1_000])
            try db.execute(
                sql: """
                    UPDATE delivery SET state = 2, reason = 'expired', changed = ? WHERE id IN
                        (SELECT id FROM delivery WHERE state = 0 AND expires <= ? AND leased <= ? LIMIT \(limit))
                    """,
                arguments: [time, time, time])
            let expired = db.changesCount
            try db.execute(
                sql: """
                    UPDATE message SET payload = NULL WHERE id IN (
                        SELECT id FROM message m WHERE payload IS NOT NULL AND NOT EXISTS (
                            SELECT 1 FROM delivery d WHERE d.message = m.id AND (d.state = 0
                                OR d.state = 1 AND (d.outcome IS NULL OR d.attempts > 1) AND d.changed > ? AND d.expires > ?))
                        LIMIT \(limit))
                    """,
                arguments: [time - keepsPayloadFor, time])
            return max(expired, db.changesCount) == limit
        }
    }
}

extension ClaimedDelivery {
    init(_ row: Row) {
        self.init(
            id: row["id"], kind: DeliveryKind(rawValue: row["kind"]) ?? .notification, messageID: row["message"],
            payload: row["payload"] ?? Data(), apnsID: row["apns_id"], priority: row["priority"],
            collapseID: row["collapse"], expiresAt: row["expires"], attempts: row["attempts"], token: row["token"],
            record: row["record"], kid: row["current"], registeredAt: row["registered"])
    }
}

extension Audience {
    /// The tables of the receivers, with one argument.
    fileprivate var source: (sql: String, argument: String) {
        switch self {
        case .user(let user): ("installation i WHERE i.user = ?", user)
        case .segment(let name):
            ("segment s JOIN installation i ON i.id = s.installation WHERE s.name = ?", name)
        }
    }
}

extension NewMessage {
    /// A digest of the request without its expiry, which depends on the clock.
    fileprivate var digest: Data {
        var hash = SHA256()
        for part in ["\(audience)", "\(priority)", collapseID ?? ""] {
            hash.update(data: Data("\(part.utf8.count):\(part)".utf8))
        }
        hash.update(data: payload)
        return Data(hash.finalize())
    }
}
