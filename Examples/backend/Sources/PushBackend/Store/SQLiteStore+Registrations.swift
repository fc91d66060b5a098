import Foundation
import GRDB
import PushCryptSender

extension SQLiteStore {
    /// Keeps an upload until its app answers a challenge. It contains the record, a secret.
    func keep(_ upload: PendingUpload, at time: Int64) async throws {
        let value = try JSONEncoder().encode(upload)
        try await write { db in
            try db.execute(
                sql: "INSERT INTO pending (id, user, value, added) VALUES (?, ?, ?, ?)",
                arguments: [upload.pending.id, upload.upload.user, value, time])
            try Self.removeOldest("pending", of: upload.upload.user, beyond: Self.largestPendingCount, db)
        }
    }

    /// Removes a user's rows of a table, except for the latest ones.
    static func removeOldest(_ table: String, of user: String, beyond limit: Int, _ db: Database) throws {
        try db.execute(
            sql: """
                DELETE FROM \(table) WHERE id IN
                    (SELECT id FROM \(table) WHERE user = ? ORDER BY added DESC LIMIT -1 OFFSET ?)
                """,
            arguments: [user, limit])
    }

    /// Takes an upload of the user out of the store, and stores its registration, or renews the one with the same token or key: in
    /// one transaction, so that a challenge has one answer, and an answer that couldn't be stored can be repeated. Of too many
    /// installations of a user, the one that registered earliest is removed.
    ///
    /// - Parameter check: checks the answer. If it throws, the upload is removed and nothing is registered.
    /// - Returns: nil if the user has no such upload: it was answered or replaced, it has expired, or it is another user's.
    /// - Throws: what `check` throws; `StoreError` with `conflict` if another key has the same id, which is never replaced, or if the
    ///   user's installation has a key whose suite ranks higher.
    func register(
        pending id: String, of user: String, at time: Int64, check: @escaping @Sendable (PendingUpload) throws -> Void
    ) async throws -> RegistrationState? {
        try await write { db -> Result<RegistrationState?, any Error> in
            let value = try Data.fetchOne(
                db, sql: "DELETE FROM pending WHERE id = ? AND user = ? RETURNING value", arguments: [id, user])
            guard let value else { return .success(nil) }
            let upload = try JSONDecoder().decode(PendingUpload.self, from: value)
            // A wrong answer is no error of the transaction, which removes the upload.
            do { try check(upload) } catch { return .failure(error) }
            return .success(try Self.register(upload.upload, at: time, db))
        }.get()
    }

    /// Follows the rules of the library's `RegistrationChange`, for rows with tokens of two environments. The upload is proven, so
    /// it can move a key to another account. A key is never replaced by another one with the same id.
    static func register(_ upload: RegistrationUpload, at time: Int64, _ db: Database) throws -> RegistrationState {
        // Another account, or an earlier installation on this device, had the token or the key.
        let same = try Row.fetchAll(
            db,
            sql: "SELECT id, name, user, kid, record FROM installation WHERE kid = ? OR token = ? AND environment = ?",
            arguments: [upload.kid, upload.token, upload.environment.rawValue])
        for row in same { try check(upload, replacing: row) }
        let own = same.first { $0["user"] == upload.user }
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
            arguments: [upload.user, largestInstallationCount])
        for id in surplus { try remove(id, reason: "replaced", at: time, db) }
        return RegistrationState(name: name, kid: upload.kid, asksForRegistration: false)
    }

    private static func check(_ upload: RegistrationUpload, replacing row: Row) throws {
        let record: Data = row["record"]
        guard record != upload.record else { return }
        let earlier = try Registration(json: record, requiring: [])
        let registration = try Registration(json: upload.record, requiring: [])
        guard row["kid"] != upload.kid || earlier.hasSameKey(as: registration) else {
            throw StoreError(code: .conflict, reason: "another key has this id")
        }
        guard row["user"] == upload.user else { return }
        do { try registration.checkSuite(replacing: earlier) } catch {
            throw StoreError(code: .conflict, reason: error.reason)
        }
    }

    /// Returns the state of a user's installation; nil if there is none of this name.
    func registration(named name: String, of user: String) async throws -> RegistrationState? {
        try await read { db in
            try Row.fetchOne(
                db, sql: "SELECT kid, asked > 0 AS asks FROM installation WHERE name = ? AND user = ?",
                arguments: [name, user]
            ).map { RegistrationState(name: name, kid: $0["kid"], asksForRegistration: $0["asks"]) }
        }
    }

    /// Removes an installation. What is queued for it fails with the reason `signedOut`.
    ///
    /// - Returns: false if there was none.
    func signOut(_ name: String, of user: String, at time: Int64) async throws -> Bool {
        try await write { db in
            let id = try Int64.fetchOne(
                db, sql: "SELECT id FROM installation WHERE name = ? AND user = ?", arguments: [name, user])
            guard let id else { return false }
            try Self.remove(id, reason: "signedOut", at: time, db)
            return true
        }
    }

    static func remove(_ installation: Int64, reason: String, at time: Int64, _ db: Database) throws {
        try db.execute(
            sql: "UPDATE delivery SET state = 2, reason = ?, changed = ? WHERE installation = ? AND state = 0",
            arguments: [reason, time, installation])
        try db.execute(sql: "DELETE FROM installation WHERE id = ?", arguments: [installation])
    }
}
