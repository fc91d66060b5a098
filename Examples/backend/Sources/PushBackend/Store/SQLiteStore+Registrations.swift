import Foundation
import GRDB
import PushCryptSender

extension SQLiteStore {
    public func keep(_ upload: PendingUpload, at time: Int64) async throws {
        let value = try JSONEncoder().encode(upload)
        try await write { [limit = options.largestPendingCount] db in
            try db.execute(
                sql: "INSERT INTO pending (id, user, value, added) VALUES (?, ?, ?, ?)",
                arguments: [upload.pending.id, upload.user, value, time])
            try Self.removeOldest("pending", of: upload.user, beyond: limit, db)
        }
    }

    /// Removes a user's rows of a table, except for the latest ones.
    static func removeOldest(_ table: String, of user: String, beyond limit: Int, _ db: Database) throws {
        try db.cachedStatement(
            sql: """
                DELETE FROM \(table) WHERE id IN
                    (SELECT id FROM \(table) WHERE user = ? ORDER BY added DESC LIMIT -1 OFFSET ?)
                """
        ).execute(arguments: [user, limit])
    }

    public func register(
        pending id: String, of user: String, at time: Int64, check: @escaping @Sendable (PendingUpload) throws -> Void
    ) async throws -> RegistrationState {
        try await write { [options] db -> Result<RegistrationState, any Error> in
            let row = try Row.fetchOne(
                db, sql: "SELECT value, ended FROM pending WHERE id = ? AND user = ?", arguments: [id, user])
            guard let row else { return .failure(ChallengeError.unknown) }
            if let end: String = row["ended"] {
                return .failure(end == "answered" ? ChallengeError.answered : ChallengeError.expired)
            }
            try db.execute(sql: "UPDATE pending SET value = x'', ended = 'answered' WHERE id = ?", arguments: [id])
            let upload = try JSONDecoder().decode(PendingUpload.self, from: row["value"])
            // A wrong answer is no error of the transaction, which removes the upload.
            do { try check(upload) } catch { return .failure(error) }
            return .success(try Self.register(upload.upload, at: time, options, db))
        }.get()
    }

    /// Follows the rules of the library's `RegistrationChange`, for rows with tokens of two environments. The upload is proven, so
    /// it can move a key to another account. A key is never replaced by another one with the same id.
    static func register(
        _ upload: RegistrationUpload, at time: Int64, _ options: Options, _ db: Database
    ) throws -> RegistrationState {
        // Another account, or an earlier installation on this device, had the token or the key.
        let same = try Row.fetchAll(
            db,
            sql: """
                SELECT id, name, user, kid, record FROM installation WHERE kid = ? OR token = ? AND environment = ? OR name = ?
                """,
            arguments: [upload.kid, upload.token, upload.environment.rawValue, upload.name])
        for row in same where row["kid"] == upload.kid {
            guard try isSameKey(row["record"], upload.record) else {
                throw StoreError(code: .conflict, reason: "another key has this id")
            }
        }
        for row in same where row["user"] == upload.user { try checkSuite(upload.record, replacing: row["record"]) }
        let own = same.first { $0["user"] == upload.user && (upload.name == nil || $0["name"] == upload.name) }
        guard own != nil || upload.name == nil else {
            throw StoreError(code: .missing, reason: "there is no installation of this name")
        }
        for row in same where row != own { try remove(row["id"], reason: "replaced", at: time, db) }
        let name: String = own?["name"] ?? UUID().uuidString.lowercased()
        try db.execute(
            sql: """
                INSERT INTO installation (name, user, token, environment, record, kid, registered, sender_set)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (name) DO UPDATE SET
                    accepted = accepted AND token = excluded.token AND environment = excluded.environment,
                    token = excluded.token, environment = excluded.environment, record = excluded.record,
                    kid = excluded.kid, registered = excluded.registered, asked = 0, sender_set = excluded.sender_set
                """,
            arguments: [
                name, upload.user, upload.token, upload.environment.rawValue, upload.record, upload.kid, time,
                upload.senderSet,
            ])
        // The token may belong to the other environment now.
        try db.execute(
            sql: """
                UPDATE delivery SET environment = ?
                WHERE installation = (SELECT id FROM installation WHERE name = ?) AND state = 0
                """,
            arguments: [upload.environment.rawValue, name])
        let surplus = try Int64.fetchAll(
            db, sql: "SELECT id FROM installation WHERE user = ? ORDER BY registered DESC, id DESC LIMIT -1 OFFSET ?",
            arguments: [upload.user, options.largestInstallationCount])
        for id in surplus { try remove(id, reason: "replaced", at: time, db) }
        return RegistrationState(name: name, kid: upload.kid, asksForRegistration: false)
    }

    public func registration(named name: String, of user: String) async throws -> RegistrationState? {
        try await read { db in
            try Row.fetchOne(
                db, sql: "SELECT kid, asked > 0 AS asks FROM installation WHERE name = ? AND user = ?",
                arguments: [name, user]
            ).map { RegistrationState(name: name, kid: $0["kid"], asksForRegistration: $0["asks"]) }
        }
    }

    public func signOut(_ name: String, of user: String, at time: Int64) async throws -> Bool {
        try await write { db in
            let id = try Int64.fetchOne(
                db, sql: "SELECT id FROM installation WHERE name = ? AND user = ?", arguments: [name, user])
            guard let id else { return false }
            try Self.remove(id, reason: "signedOut", at: time, db)
            return true
        }
    }

    public func setSegments(_ names: Set<String>, of user: String) async throws {
        try await write { db in
            try db.execute(sql: "DELETE FROM segment WHERE user = ?", arguments: [user])
            for name in names { try db.execute(sql: "INSERT INTO segment VALUES (?, ?)", arguments: [name, user]) }
        }
    }

    private static func isSameKey(_ stored: Data, _ uploaded: Data) throws -> Bool {
        if stored == uploaded { return true }
        return try Registration(json: stored, requiring: []).hasSameKey(as: Registration(json: uploaded, requiring: []))
    }

    private static func checkSuite(_ uploaded: Data, replacing stored: Data) throws {
        if stored == uploaded { return }
        let earlier = try Registration(json: stored, requiring: [])
        let registration = try Registration(json: uploaded, requiring: [])
        do { try registration.checkSuite(replacing: earlier) } catch {
            throw StoreError(code: .conflict, reason: error.reason)
        }
    }

    static func remove(_ installation: Int64, reason: String, at time: Int64, _ db: Database) throws {
        try db.execute(
            sql: "UPDATE delivery SET state = 2, reason = ?, changed = ? WHERE installation = ? AND state = 0",
            arguments: [reason, time, installation])
        try db.execute(sql: "DELETE FROM installation WHERE id = ?", arguments: [installation])
    }
}
