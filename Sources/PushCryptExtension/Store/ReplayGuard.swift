public import PushCryptCore
import PushCryptPrimitives
import PushCryptSQLite

/// Remembers which messages were shown (PROTOCOL section 5), for one reader: the extension and the app each have one.
///
/// An error that it throws keeps no message from being read: the message is shown as if there were no guard.
public protocol ReplayGuard: Sendable {
    /// Checks freshness and claims, in one transaction. A claim lapses after 60 seconds, so that a message whose process
    /// was killed before it was shown isn't lost.
    ///
    /// - Parameters:
    ///   - messageID: 22 characters of base64url.
    ///   - time: now.
    /// - Returns: the claim, or why the message isn't shown: `expired`, `notYetValid`, or `replayed` if it was seen, is
    ///   claimed already, or is too old to be remembered.
    /// - Throws: an error if nothing can be remembered.
    func claim(
        _ messageID: String, issuedAt: UnixTime, expiresAt: UnixTime, at time: UnixTime
    ) throws -> Result<MessageClaim, FailureClass>

    /// Marks the message as seen, after its content was handed to the system: the claim no longer lapses.
    ///
    /// - Throws: an error if nothing can be remembered.
    func markSeen(_ claim: MessageClaim) throws

    /// Gives the claim back, after the content wasn't shown: the message may be claimed again at once. Does nothing if the
    /// message was seen, or if another claim has taken this one's place.
    ///
    /// - Throws: an error if nothing can be remembered.
    func release(_ claim: MessageClaim) throws
}

/// The right to show a message. One session has it at a time.
public struct MessageClaim: Hashable, Sendable {
    /// 22 characters of base64url.
    public let messageID: String
    /// When the message was sealed, `iat`.
    public let issuedAt: UnixTime
    /// Distinguishes this claim from others of the same message.
    public let token: Int64

    /// Makes a claim, with a random token unless one is given.
    public init(messageID: String, issuedAt: UnixTime, token: Int64 = .random(in: .min ... .max)) {
        self.messageID = messageID
        self.issuedAt = issuedAt
        self.token = token
    }
}

/// If the file can't be used, the process remembers in memory what it shows. The next call that can use the file writes that
/// to it.
extension SharedStore: ReplayGuard {
    /// Claims a message in the file, or in memory if the file can't be used.
    ///
    /// - Throws: `StoreError` if the message can be remembered in neither.
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
            answer = try unwritten.claim(message, at: clock)
        }
        return answer.flatMap { claim in
            if claimedMessages.add(claim, at: clock) { return .success(claim) }
            try? unwritten.release(claim)
            return .failure(.replayed)
        }
    }

    /// Marks a claimed message as seen.
    ///
    /// - Throws: `StoreError` if that can be written in neither.
    public func markSeen(_ claim: MessageClaim) throws {
        claimedMessages.markSeen(claim)
        do throws(StoreError) {
            try markSeenInFile(claim)
        } catch {
            try unwritten.markSeen(claim)
        }
    }

    /// Gives a claim back.
    ///
    /// - Throws: `StoreError` if that can be written in neither.
    public func release(_ claim: MessageClaim) throws {
        claimedMessages.remove(claim)
        do throws(StoreError) {
            try inFile { memory, messages throws(SQLiteError) in
                try memory.adopt(messages)
                try memory.release(claim)
            }
        } catch {
            unwrittenReleases.withLock { $0.append(claim) }
            try unwritten.release(claim)
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
        let (messages, releases) = (unwritten.messages, unwrittenReleases.withLock { $0 })
        let value = try transaction { [role, limit = configuration.messageLimit] database throws(SQLiteError) in
            let memory = ReplayMemory(database: database, role: role, limit: limit)
            for claim in releases { try memory.release(claim) }
            return try body(memory, messages)
        }
        unwritten.remove(messages)
        unwrittenReleases.withLock { $0.removeAll(where: releases.contains) }
        return value
    }
}
