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
        let answer: Result<MessageClaim, FailureClass>
        do throws(StoreError) {
            answer = try claimInFile(message, at: clock)
        } catch {
            answer = try spare.claim(message, at: clock)
        }
        return answer.flatMap { claim in
            if processClaims.add(claim, at: clock) { return .success(claim) }
            try? spare.release(claim)
            return .failure(.replayed)
        }
    }

    public func markSeen(_ claim: MessageClaim) throws {
        processClaims.markSeen(claim)
        do throws(StoreError) {
            try markSeenInFile(claim)
        } catch {
            try spare.markSeen(claim)
        }
    }

    public func release(_ claim: MessageClaim) throws {
        processClaims.remove(claim)
        do throws(StoreError) {
            try inFile { memory, messages throws(SQLiteError) in
                try memory.adopt(messages)
                try memory.release(claim)
            }
        } catch {
            unwrittenReleases.withLock { $0.append(claim) }
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
        let refusal = Locked<FailureClass?>(nil)
        let result = Result { () throws(StoreError) in
            try inFile { memory, messages throws(SQLiteError) in
                // What the file knows of this message is asked before others are written, which may fail.
                try memory.adopt(messages.filter { $0.id == message.id })
                let answer = try memory.admit(message, at: clock) { refusal.withLock { $0 = .replayed } }
                if case .failure(let failure) = answer { refusal.withLock { $0 = failure } }
                try memory.adopt(messages.filter { $0.id != message.id })
                return answer
            }
        }
        // What the file knew counts, even if it couldn't be written or was damaged: without it the message would be shown.
        if let failure = refusal.withLock({ $0 }) { return .failure(failure) }
        return try result.get()
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
        let (messages, releases) = (spare.messages, unwrittenReleases.withLock { $0 })
        let value = try transaction { [role, limit = configuration.messageLimit] database throws(SQLiteError) in
            let memory = ReplayMemory(database: database, role: role, limit: limit)
            for claim in releases { try memory.release(claim) }
            return try body(memory, messages)
        }
        spare.remove(messages)
        unwrittenReleases.withLock { $0.removeAll(where: releases.contains) }
        return value
    }
}
