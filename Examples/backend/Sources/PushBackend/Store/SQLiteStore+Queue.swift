import Crypto
import Foundation
import GRDB
import PushCryptSender

extension SQLiteStore {
    /// Adds a message and a delivery for each installation of its user.
    ///
    /// - Throws: `StoreError` with `conflict` if the idempotency key was used for another message that is still kept.
    func accept(_ message: NewMessage, at time: Int64) async throws -> AcceptedMessage {
        try await write { db in
            let digest = message.digest
            if let key = message.idempotencyKey,
                let row = try Row.fetchOne(
                    db, sql: "SELECT id, digest, deliveries FROM message WHERE key = ?", arguments: [key])
            {
                guard row["digest"] == digest else {
                    throw StoreError(code: .conflict, reason: "the idempotency key was used for another message")
                }
                return AcceptedMessage(id: row["id"], deliveries: row["deliveries"])
            }
            let id = UUID().uuidString.lowercased()
            try db.execute(
                sql: """
                    INSERT INTO message (id, payload, priority, collapse, expires, key, digest, deliveries)
                    VALUES (?, ?, ?, ?, ?, ?, ?, (SELECT count(*) FROM installation WHERE user = ?))
                    """,
                arguments: [
                    id, message.payload, message.priority, message.collapseID, message.expiresAt,
                    message.idempotencyKey, digest, message.user,
                ])
            try db.execute(
                sql: """
                    INSERT INTO delivery
                        (message, installation, user, environment, kind, priority, expires, due, apns_id, changed)
                    SELECT ?, id, user, environment, 0, ?, ?, ?, \(Self.randomUUID), ? FROM installation WHERE user = ?
                    """,
                arguments: [id, message.priority, message.expiresAt, time, time, message.user])
            return AcceptedMessage(id: id, deliveries: db.changesCount)
        }
    }

    /// A version 4 UUID from SQLite's random numbers, which are seeded by the system.
    static let randomUUID = """
        lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || '-a' \
        || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)))
        """

    /// Takes deliveries of one environment that are due, the ones with the highest priority first.
    func claim(_ limit: Int, for environment: APNsEnvironment, at time: Int64) async throws -> [ClaimedDelivery] {
        try await write { db in
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT d.*, i.token, i.record, i.kid AS current, i.registered, m.payload, m.collapse
                    FROM delivery d INDEXED BY delivery_queue
                        JOIN installation i ON i.id = d.installation AND i.user = d.user
                        LEFT JOIN message m ON m.id = d.message
                    WHERE d.state = 0 AND d.environment = ? AND d.due <= ? AND NOT d.is_claimed AND d.expires > ?
                        AND (i.asked = 0 OR d.kind = 1)
                    ORDER BY d.priority DESC, d.due LIMIT ?
                    """,
                arguments: [environment.rawValue, time, time, limit])
            for row in rows {
                try db.cachedStatement(
                    sql: "UPDATE delivery SET is_claimed = 1, claimed = ?, attempts = attempts + 1 WHERE id = ?"
                ).execute(arguments: [time, row["id"] as Int64])
            }
            return rows.map(ClaimedDelivery.init)
        }
    }

    /// Stores how attempts ended, and gives up their claims.
    func record(_ outcomes: [DeliveryOutcome], at time: Int64) async throws {
        try await write { db in
            for outcome in outcomes { try Self.record(outcome.result, of: outcome.delivery, at: time, db) }
        }
    }

    private static func record(
        _ result: DeliveryOutcome.Result, of delivery: ClaimedDelivery, at time: Int64, _ db: Database
    ) throws {
        switch result {
        case .sent(let name, let skid):
            // The receipt may have arrived before APNs' answer is stored.
            try db.cachedStatement(
                sql: """
                    UPDATE delivery SET state = 1, is_claimed = 0, reason = NULL, kid = ?, skid = ?, receipt = ?,
                        changed = ?, seals = seals + 1, outcome = (SELECT outcome FROM receipt WHERE name = ?)
                    WHERE id = ? AND state = 0
                    """
            ).execute(arguments: [delivery.kid, skid, name, time, name, delivery.id])
            try handleEarlyReceipt(for: delivery.id, at: time, db)
            try db.cachedStatement(
                sql: "UPDATE installation SET accepted = 1 WHERE token = ? AND environment = ? AND accepted = 0"
            ).execute(arguments: [delivery.token, delivery.environment.rawValue])
        case .retry(let due, let reason): try retry(delivery.id, at: due, reason, isRepeated: false, time, db)
        case .unanswered(let due, let reason): try retry(delivery.id, at: due, reason, isRepeated: true, time, db)
        case .failed(let reason): try fail(delivery.id, reason, at: time, db)
        case .tokenEnded(let ended, let reason):
            let installation = try Row.fetchOne(
                db,
                sql: """
                    SELECT i.id, i.registered, i.accepted FROM delivery d
                        JOIN installation i ON i.id = d.installation AND i.user = d.user
                    WHERE d.id = ? AND i.token = ? AND i.environment = ?
                    """,
                arguments: [delivery.id, delivery.token, delivery.environment.rawValue])
            guard let installation else {
                // The app has registered another token since.
                return try retry(delivery.id, at: time, reason, isRepeated: false, time, db)
            }
            try fail(delivery.id, reason, at: time, db)
            let isRemoved = ended.map { installation["registered"] <= $0 } ?? (installation["accepted"] == false)
            if isRemoved { try remove(installation["id"], reason: reason, at: time, db) }
        }
    }

    private static func retry(
        _ id: Int64, at due: Int64, _ reason: String, isRepeated: Bool, _ time: Int64, _ db: Database
    ) throws {
        try db.cachedStatement(
            sql: """
                UPDATE delivery SET is_claimed = 0, due = ?, reason = ?, repeated = repeated OR ?, changed = ?
                WHERE id = ? AND state = 0
                """
        ).execute(arguments: [due, reason, isRepeated, time, id])
    }

    private static func fail(_ id: Int64, _ reason: String, at time: Int64, _ db: Database) throws {
        try db.cachedStatement(
            sql: "UPDATE delivery SET state = 2, is_claimed = 0, reason = ?, changed = ? WHERE id = ? AND state = 0"
        ).execute(arguments: [reason, time, id])
    }

    /// Counts the deliveries that wait after 8 attempts or more, which take a minute or longer, by the reason of the last one.
    func stuckDeliveries() async throws -> [String: Int] {
        try await read { db in
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT coalesce(reason, 'unknown') AS cause, count(*) AS number
                    FROM delivery INDEXED BY delivery_that_is_stuck WHERE state = 0 AND attempts >= 8 GROUP BY reason
                    """)
            return rows.reduce(into: [:]) { $0[$1["cause"]] = $1["number"] }
        }
    }

    /// Returns what became of a message; nil if there is none.
    func report(on messageID: String) async throws -> MessageReport? {
        try await read { db in
            let deliveries = try Int.fetchOne(
                db, sql: "SELECT deliveries FROM message WHERE id = ?", arguments: [messageID])
            guard let deliveries else { return nil }
            var report = MessageReport(id: messageID, deliveries: deliveries)
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT state, outcome, reason, count(*) AS count FROM delivery WHERE message = ? AND kind = 0
                    GROUP BY state, outcome, reason
                    """,
                arguments: [messageID])
            for row in rows { report.add(row) }
            return report
        }
    }
}

extension ClaimedDelivery {
    /// - Parameter row: the delivery before this attempt.
    fileprivate init(_ row: Row) {
        self.init(
            id: row["id"], kind: DeliveryKind(rawValue: row["kind"]) ?? .notification, messageID: row["message"],
            payload: row["payload"] ?? Data(), apnsID: row["apns_id"], priority: row["priority"],
            collapseID: row["collapse"], expiresAt: row["expires"], attempts: (row["attempts"] as Int) + 1,
            token: row["token"],
            environment: APNsEnvironment(rawValue: row["environment"]) ?? .production, record: row["record"],
            kid: row["current"], registeredAt: row["registered"])
    }
}

extension NewMessage {
    /// A digest of the request without its expiry, which depends on the clock.
    fileprivate var digest: Data {
        var hash = SHA256()
        for part in [user, "\(priority)", collapseID ?? ""] {
            hash.update(data: Data("\(part.utf8.count):\(part)".utf8))
        }
        hash.update(data: payload)
        return Data(hash.finalize())
    }
}

extension MessageReport {
    fileprivate mutating func add(_ row: Row) {
        let count: Int = row["count"]
        let outcome: String? = row["outcome"]
        switch row["state"] as Int {
        case 0: queued += count
        case 2: failed[row["reason"] ?? "unknown", default: 0] += count
        default:
            sent += count
            if outcome == "opened" || outcome == "replayed" { opened += count }
            if let outcome, outcome != "opened", outcome != "replayed" { failed[outcome, default: 0] += count }
        }
    }
}
