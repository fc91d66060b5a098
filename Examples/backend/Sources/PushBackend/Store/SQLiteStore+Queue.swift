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
                        (message, installation, user, environment, kind, priority, segment, expires, due, apns_id, changed)
                    SELECT ?, i.id, i.user, i.environment, 0, ?, ?, ?, ?, \(Self.randomUUID), ? FROM \(source)
                    """,
                arguments: [
                    id, message.priority, message.audience.isSegment, message.expiresAt, time, time, name,
                ])
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
                // After a lease that has ended, nobody knows what APNs has answered.
                try db.cachedStatement(
                    sql: """
                        UPDATE delivery SET repeated = repeated OR leased > 0, leased = ?, claimed = ?,
                            attempts = attempts + 1
                        WHERE id = ?
                        """
                ).execute(arguments: [lease, time, id])
            }
            let select = try db.cachedStatement(
                sql: """
                    SELECT d.*, i.token, i.record, i.kid AS current, i.registered, m.payload, m.collapse
                    FROM delivery d JOIN installation i ON i.id = d.installation AND i.user = d.user
                        LEFT JOIN message m ON m.id = d.message
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
                SELECT d.id FROM delivery d INDEXED BY delivery_queue
                    JOIN installation i ON i.id = d.installation AND i.user = d.user
                WHERE d.state = 0 AND d.environment = ? AND d.due <= ? AND d.leased <= ? AND d.expires > ?
                    AND (i.asked = 0 OR d.kind = 1)
                ORDER BY d.priority DESC, d.segment, d.due LIMIT ?
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
        case .sent(let name, let skid):
            // The receipt may have arrived before APNs' answer is stored.
            try db.cachedStatement(
                sql: """
                    UPDATE delivery SET state = 1, leased = 0, reason = NULL, kid = ?, skid = ?, receipt = ?,
                        changed = ?, seals = seals + 1, outcome = (SELECT outcome FROM receipt WHERE name = ?)
                    WHERE id = ? AND state = 0
                    """
            ).execute(arguments: [outcome.kid, skid, name, time, name, outcome.id])
            try handleEarlyReceipt(for: outcome.id, at: time, options, db)
            try db.cachedStatement(
                sql: "UPDATE installation SET accepted = 1 WHERE token = ? AND environment = ? AND accepted = 0"
            ).execute(arguments: [outcome.token, outcome.environment.rawValue])
        case .retry(let due, let reason): try retry(outcome.id, at: due, reason, isRepeated: false, time, db)
        case .unanswered(let due, let reason): try retry(outcome.id, at: due, reason, isRepeated: true, time, db)
        case .failed(let reason): try fail(outcome.id, reason, at: time, db)
        case .tokenEnded(let ended, let reason):
            let installation = try Row.fetchOne(
                db,
                sql: """
                    SELECT i.id, i.registered, i.accepted FROM delivery d
                        JOIN installation i ON i.id = d.installation AND i.user = d.user
                    WHERE d.id = ? AND i.token = ? AND i.environment = ?
                    """,
                arguments: [outcome.id, outcome.token, outcome.environment.rawValue])
            guard let installation else {
                // The app has registered another token since.
                return try retry(outcome.id, at: time, reason, isRepeated: false, time, db)
            }
            try fail(outcome.id, reason, at: time, db)
            let isRemoved = ended.map { installation["registered"] <= $0 } ?? (installation["accepted"] == false)
            if isRemoved { try remove(installation["id"], reason: reason, at: time, db) }
        }
    }

    private static func retry(
        _ id: Int64, at due: Int64, _ reason: String, isRepeated: Bool, _ time: Int64, _ db: Database
    ) throws {
        try db.cachedStatement(
            sql: """
                UPDATE delivery SET leased = 0, due = ?, reason = ?, repeated = repeated OR ?, changed = ?
                WHERE id = ? AND state = 0
                """
        ).execute(arguments: [due, reason, isRepeated, time, id])
    }

    private static func fail(_ id: Int64, _ reason: String, at time: Int64, _ db: Database) throws {
        try db.cachedStatement(
            sql: "UPDATE delivery SET state = 2, leased = 0, reason = ?, changed = ? WHERE id = ? AND state = 0"
        ).execute(arguments: [reason, time, id])
    }

    public func queueDepth() async throws -> Int {
        try await read { try Int.fetchOne($0, sql: "SELECT count(*) FROM delivery WHERE state = 0") ?? 0 }
    }

    public func stuckDeliveries() async throws -> [String: Int] {
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
}

extension ClaimedDelivery {
    init(_ row: Row) {
        self.init(
            id: row["id"], kind: DeliveryKind(rawValue: row["kind"]) ?? .notification, messageID: row["message"],
            payload: row["payload"] ?? Data(), apnsID: row["apns_id"], priority: row["priority"],
            collapseID: row["collapse"], expiresAt: row["expires"], attempts: row["attempts"], token: row["token"],
            environment: APNsEnvironment(rawValue: row["environment"]) ?? .production, record: row["record"],
            kid: row["current"], registeredAt: row["registered"])
    }
}

extension Audience {
    /// The tables of the receivers, with one argument.
    fileprivate var source: (sql: String, argument: String) {
        switch self {
        case .user(let user): ("installation i WHERE i.user = ?", user)
        case .segment(let name):
            ("segment s JOIN installation i ON i.user = s.user WHERE s.name = ?", name)
        }
    }

    fileprivate var isSegment: Bool {
        if case .segment = self { true } else { false }
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
