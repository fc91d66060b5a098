import PushCryptCore
import PushCryptPrimitives
import PushCryptSQLite

/// Remembers what couldn't be written to the file, by the same rules, in a database in memory. The database is made when it
/// is needed, and released when all of it was written to the file or the process ends.
final class InMemoryReplayStore: Sendable {
    private let role: SharedStore.Role
    private let limit: Int
    private let database = Locked<Database?>(nil)

    init(role: SharedStore.Role, limit: Int) {
        self.role = role
        self.limit = limit
    }

    func claim(_ message: MessageStamp, at clock: Int64) throws(StoreError) -> Result<MessageClaim, FailureClass> {
        try withMemory { memory throws(SQLiteError) in try memory.admit(message, at: clock) {} }
    }

    /// Also for a message that was claimed in the file.
    func markSeen(_ claim: MessageClaim) throws(StoreError) {
        try withMemory { memory throws(SQLiteError) in
            try memory.adopt([RememberedMessage(claim, claimed: nil)])
        }
    }

    func release(_ claim: MessageClaim) throws(StoreError) {
        try withMemory { memory throws(SQLiteError) in try memory.release(claim) }
    }

    /// The messages that the file doesn't have yet.
    var messages: [RememberedMessage] {
        database.withLock { database in
            let rows = try? database?.rows("SELECT id, iat, claimed, token FROM message") { row in
                RememberedMessage(
                    id: row.text(0) ?? "", issuedAt: row.integer(1) ?? 0, claimed: row.integer(2),
                    token: row.integer(3) ?? 0)
            }
            return rows ?? []
        }
    }

    /// Removes messages that were written to the file. A message that has changed since then stays.
    func remove(_ messages: [RememberedMessage]) {
        guard !messages.isEmpty else { return }
        database.withLock { database in
            for message in messages {
                _ = try? database?.run(
                    "DELETE FROM message WHERE id = ? AND iat = ? AND claimed IS ? AND token = ?", .text(message.id),
                    .integer(message.issuedAt), SQLiteValue(message.claimed), .integer(message.token))
            }
            let count = try? database?.first("SELECT count(*) FROM message") { $0.integer(0) }
            if count == 0 { database = nil }
        }
    }

    private func withMemory<Value: Sendable>(
        _ body: @Sendable (ReplayMemory) throws(SQLiteError) -> Value
    ) throws(StoreError) -> Value {
        let result = database.withLock { [role, limit] database in
            Result { () throws(SQLiteError) in
                if database == nil { database = try Self.make() }
                guard let memory = database else { throw SQLiteError(.failed, "no memory") }
                return try memory.transaction { () throws(SQLiteError) in
                    try body(ReplayMemory(database: memory, role: role, limit: limit))
                }
            }
        }
        return try result.mapError(StoreError.init).get()
    }

    private static func make() throws(SQLiteError) -> Database {
        let database = try Database()
        try database.script(StoreSchema.creation)
        return database
    }
}
