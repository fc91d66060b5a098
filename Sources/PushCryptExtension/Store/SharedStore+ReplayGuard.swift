public import PushCryptCore
import PushCryptPrimitives
import PushCryptSQLite

/// Where the file can't be used, the process remembers in memory what it shows; what only the process remembers is written
/// with the next call that can.
///
/// - Throws: `StoreError`, from all of them, where there is no memory either.
extension SharedStore: ReplayGuard {
    public func claim(
        _ messageID: String, issuedAt: UnixTime, expiresAt: UnixTime, at time: UnixTime
    ) throws -> Result<MessageClaim, FailureClass> {
        // The opener has refused others, whose sums could overflow here.
        guard Self.range.contains(issuedAt.seconds), Self.range.contains(expiresAt.seconds) else {
            return .failure(.replayed)
        }
        let message = MessageStamp(id: messageID, issuedAt: issuedAt, expiresAt: expiresAt)
        let clock = min(max(time.seconds, Self.range.lowerBound), Self.range.upperBound)
        do throws(StoreError) {
            return try claimInFile(message, at: clock)
        } catch {
            return try spare.claim(message, at: clock)
        }
    }

    public func markSeen(_ claim: MessageClaim) throws {
        do throws(StoreError) {
            try markSeenInFile(claim)
        } catch {
            try spare.markSeen(claim)
        }
    }

    public func release(_ claim: MessageClaim) throws {
        do throws(StoreError) {
            try inFile { memory, messages throws(SQLiteError) in
                try memory.adopt(messages)
                try memory.release(claim)
            }
        } catch {
            try spare.release(claim)
        }
    }

    private static var range: ClosedRange<Int64> { UnixTime.protocolRange }
}

/// The file alone.
extension SharedStore {
    /// - Parameter clock: within the protocol's range, as are the times of the message.
    package func claimInFile(
        _ message: MessageStamp, at clock: Int64
    ) throws(StoreError) -> Result<MessageClaim, FailureClass> {
        let isRepeat = Locked(false)
        let result = Result { () throws(StoreError) in
            try inFile { memory, messages throws(SQLiteError) in
                // What the file knows of this message is asked before others are written, which may fail.
                try memory.adopt(messages.filter { $0.id == message.id })
                let answer = try memory.admit(message, at: clock) { isRepeat.withLock { $0 = true } }
                try memory.adopt(messages.filter { $0.id != message.id })
                return answer
            }
        }
        // What the file knew counts, even if it couldn't be written or was damaged: without it the message would be shown.
        return isRepeat.withLock { $0 } ? .failure(.replayed) : try result.get()
    }

    package func markSeenInFile(_ claim: MessageClaim) throws(StoreError) {
        try inFile { memory, messages throws(SQLiteError) in
            try memory.adopt(messages)
            try memory.markSeen(claim.messageID)
        }
    }

    /// - Parameter body: writes what only the process remembers to the file, with its own.
    private func inFile<Value: Sendable>(
        _ body: @Sendable (ReplayMemory, [RememberedMessage]) throws(SQLiteError) -> Value
    ) throws(StoreError) -> Value {
        let messages = spare.messages
        let value = try transaction { [role, limit = configuration.messageLimit] database throws(SQLiteError) in
            try body(ReplayMemory(database: database, role: role, limit: limit), messages)
        }
        spare.remove(messages)
        return value
    }
}
