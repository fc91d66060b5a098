import Foundation
import GRDB
import PushCryptSender

extension SQLiteStore {
    public func keep(_ upload: PendingUpload, at time: Int64) async throws {
        let value = try JSONEncoder().encode(upload)
        try await write {
            try $0.execute(
                sql: "INSERT INTO pending VALUES (?, ?, ?, ?)",
                arguments: [upload.pending.id, upload.user, value, time])
        }
    }

    public func takePending(_ id: String, of user: String) async throws -> PendingUpload? {
        let value = try await write {
            try Data.fetchOne(
                $0, sql: "DELETE FROM pending WHERE id = ? AND user = ? RETURNING value", arguments: [id, user])
        }
        return try value.map { try JSONDecoder().decode(PendingUpload.self, from: $0) }
    }

    /// Follows the rules of the library's `RegistrationChange`, for rows with segments and with tokens of two environments. The
    /// upload is proven, so it can move a key to another account. A key is never replaced by another one with the same id.
    public func register(_ upload: RegistrationUpload, at time: Int64) async throws -> RegistrationState {
        try await write { db in
            // Another account, or an earlier installation on this device, had the token or the key.
            let same = try Row.fetchAll(
                db,
                sql: """
                    SELECT id, name, user, kid, record FROM installation WHERE kid = ? OR token = ? AND environment = ? OR name = ?
                    """,
                arguments: [upload.kid, upload.token, upload.environment.rawValue, upload.name])
            for row in same where row["kid"] == upload.kid {
                guard try Self.isSameKey(row["record"], upload.record) else {
                    throw StoreError(code: .conflict, reason: "another key has this id")
                }
            }
            let own = same.first { $0["user"] == upload.user && (upload.name == nil || $0["name"] == upload.name) }
            guard own != nil || upload.name == nil else {
                throw StoreError(code: .missing, reason: "there is no installation of this name")
            }
            for row in same where row != own {
                try Self.remove(row["id"], reason: "replaced", at: time, db)
            }
            let name: String = own?["name"] ?? UUID().uuidString.lowercased()
            try db.execute(
                sql: """
                    INSERT INTO installation (name, user, token, environment, record, kid, registered, asks, sender_set)
                    VALUES (?, ?, ?, ?, ?, ?, ?, 0, ?)
                    ON CONFLICT (name) DO UPDATE SET token = excluded.token, environment = excluded.environment,
                        record = excluded.record, kid = excluded.kid, registered = excluded.registered, asks = 0,
                        sender_set = excluded.sender_set
                    """,
                arguments: [
                    name, upload.user, upload.token, upload.environment.rawValue, upload.record, upload.kid, time,
                    upload.senderSet,
                ])
            let id = try Int64.fetchOne(db, sql: "SELECT id FROM installation WHERE name = ?", arguments: [name])
            try db.execute(sql: "DELETE FROM segment WHERE installation = ?", arguments: [id])
            for segment in Set(upload.segments) {
                try db.execute(sql: "INSERT INTO segment VALUES (?, ?)", arguments: [segment, id])
            }
            // The token may belong to the other environment now.
            try db.execute(
                sql: "UPDATE delivery SET environment = ? WHERE installation = ? AND state = 0",
                arguments: [upload.environment.rawValue, id])
            return RegistrationState(name: name, kid: upload.kid, asksForRegistration: false)
        }
    }

    public func registration(named name: String, of user: String) async throws -> RegistrationState? {
        try await read { db in
            try Row.fetchOne(
                db, sql: "SELECT kid, asks FROM installation WHERE name = ? AND user = ?", arguments: [name, user]
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

    private static func isSameKey(_ stored: Data, _ uploaded: Data) throws -> Bool {
        if stored == uploaded { return true }
        return try Registration(json: stored, requiring: []).hasSameKey(as: Registration(json: uploaded, requiring: []))
    }

    static func remove(_ installation: Int64, reason: String, at time: Int64, _ db: Database) throws {
        try db.execute(
            sql: "UPDATE delivery SET state = 2, reason = ?, changed = ? WHERE installation = ? AND state = 0",
            arguments: [reason, time, installation])
        try db.execute(sql: "DELETE FROM installation WHERE id = ?", arguments: [installation])
    }
}
