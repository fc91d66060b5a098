public import PushCryptCore
import PushCryptPrimitives
import PushCryptSQLite

/// - Throws: `StoreError`, from all of them.
extension SharedStore: ReplayGuard {
    public func highestIssuedAt() throws -> UnixTime? {
        let state = try perform { [role] database throws(SQLiteError) in try ReplayState.read(database, role).highest }
        return state.map(UnixTime.init)
    }

    public func claim(_ messageID: String, issuedAt: UnixTime, at time: UnixTime) throws -> Bool {
        // The opener has refused others, whose sums could overflow here.
        guard UnixTime.protocolRange.contains(issuedAt.seconds) else { return false }
        let isRepeat = Locked(false)
        let result = Result {
            try transaction { [role, limit = configuration.messageLimit] database throws(SQLiteError) in
                try ReplayMemory(database: database, role: role, limit: limit)
                    .claim(messageID, issuedAt: issuedAt.seconds, at: time.seconds) { isRepeat.withLock { $0 = true } }
            }
        }
        // What the store knew counts, even if it couldn't be written to: without an answer the message would be shown.
        return isRepeat.withLock { $0 } ? false : try result.get()
    }

    public func markSeen(_ messageID: String) throws {
        try transaction { [role, limit = configuration.messageLimit] database throws(SQLiteError) in
            try ReplayMemory(database: database, role: role, limit: limit).markSeen(messageID)
        }
    }
}
