package import PushCryptCore
import PushCryptPrimitives
import PushCryptSQLite

/// What a session asks of its store. Tests replace it.
///
/// Its calls don't ask the system to keep the process running: the session does, see ``StoreUse``. If a call throws, the
/// message is shown as if there were no store.
package protocol DeliveryMemory: Sendable {
    /// Returns the highest `iat` of an accepted message that freshness relies on at the clock's time, so that the keys of
    /// pinned senders are judged no earlier than 10 minutes before it; nil if there is none.
    ///
    /// - Throws: an error if it can't be read. It then counts as nil.
    func highestIssuedAt(at time: UnixTime) throws -> UnixTime?

    /// Claims a message among the sessions of this process. It waits for no file and no other process.
    ///
    /// - Returns: false if the process has shown the message, or another session is about to.
    func reserve(_ message: MessageStamp, at time: UnixTime) -> Bool

    /// Checks the freshness of a message and claims it among all processes, in one transaction. A claim lapses after 60
    /// seconds, so that a message isn't lost if its process is killed before it is shown.
    ///
    /// - Parameter isReserved: the answer of ``reserve(_:at:)``. After false nothing is claimed, but the store remembers the
    ///   later `iat` of a message that was sealed again.
    /// - Returns: why the message isn't shown: `expired`, `notYetValid`, or `replayed` if it was seen, is claimed, or is too
    ///   old to be remembered; nil if the message is claimed.
    /// - Throws: an error if nothing can be remembered.
    func claim(_ message: MessageStamp, isReserved: Bool, at time: UnixTime) throws -> FailureClass?

    /// Writes all that must be remembered of a push, in one transaction, before its content is handed to the system.
    ///
    /// - Parameters:
    ///   - claim: nil for a push that claimed no message.
    ///   - isShown: whether the message becomes seen; otherwise its claim is released, unless another claim has replaced it.
    ///   - report: counted, and its receipt is stored; nil counts nothing.
    /// - Throws: an error if nothing can be remembered.
    func record(_ claim: MessageClaim?, isShown: Bool, _ report: DeliveryReport?) throws
}

extension DeliveryMemory {
    package func highestIssuedAt(at time: UnixTime) throws -> UnixTime? { nil }
    package func reserve(_ message: MessageStamp, at time: UnixTime) -> Bool { true }
}

/// The right to show a message. Only one session has it at a time.
package struct MessageClaim: Hashable, Sendable {
    /// 22 characters of base64url.
    package let messageID: String
    /// The message's `iat`.
    package let issuedAt: UnixTime
    /// Distinguishes this claim from other claims of the message.
    package let token: Int64

    /// Creates a claim; the default token is random.
    package init(messageID: String, issuedAt: UnixTime, token: Int64 = .random(in: .min ... .max)) {
        self.messageID = messageID
        self.issuedAt = issuedAt
        self.token = token
    }
}

/// If the file can't be used, the process remembers shown messages in memory. The next call that can use the file writes
/// them to it.
extension SharedStore: DeliveryMemory {
    package func reserve(_ message: MessageStamp, at time: UnixTime) -> Bool {
        claimedMessages.add(message.claim, at: Self.clock(time))
    }

    package func claim(_ message: MessageStamp, isReserved: Bool, at time: UnixTime) throws -> FailureClass? {
        guard isReserved else {
            _ = try? inFile { memory, messages throws(SQLiteError) in
                try memory.adopt(messages)
                try memory.prolong(message.claim)
            }
            return .replayed
        }
        let refusal = try refusal(of: message, at: time)
        if refusal != nil { claimedMessages.remove(message.claim) }
        return refusal
    }

    private func refusal(of message: MessageStamp, at time: UnixTime) throws(StoreError) -> FailureClass? {
        // Sums of times outside the range could overflow. The opener refuses such times, but a caller may pass any.
        let range = UnixTime.protocolRange
        guard range.contains(message.issuedAt.seconds), range.contains(message.expiresAt.seconds) else {
            return .replayed
        }
        let clock = Self.clock(time)
        do throws(StoreError) {
            return try claimInFile(message, at: clock)
        } catch {
            return try unwritten.claim(message, at: clock)
        }
    }

    package func highestIssuedAt(at time: UnixTime) throws -> UnixTime? {
        let state = try sessionTransaction { [role] database throws(SQLiteError) in
            try ReplayState.read(database, role)
        }
        return state.highest(at: Self.clock(time)).map { UnixTime($0) }
    }

    /// The time within the protocol's range.
    private static func clock(_ time: UnixTime) -> Int64 {
        min(max(time.seconds, UnixTime.protocolRange.lowerBound), UnixTime.protocolRange.upperBound)
    }

    package func record(_ claim: MessageClaim?, isShown: Bool, _ report: DeliveryReport?) throws {
        let claim = claim.map { isShown ? claimedMessages.markSeen($0) : claimedMessages.remove($0) }
        do throws(StoreError) {
            try recordInFile(claim, isShown: isShown, report)
        } catch {
            if let receipt = report?.receipt { unwrittenReceipts.add(receipt) }
            guard let claim else { throw error }
            guard !isShown else { return try unwritten.markSeen(claim) }
            unwrittenReleases.withLock { $0.append(claim) }
            try unwritten.release(claim)
        }
    }
}

extension SharedStore {
    /// Claims a message in the file only.
    ///
    /// - Parameter clock: within the protocol's range, as are the times of the message.
    package func claimInFile(
        _ message: MessageStamp, at clock: Int64
    ) throws(StoreError) -> FailureClass? {
        let refusal = Locked<FailureClass?>(nil)
        let result = Result { () throws(StoreError) in
            try inFile { memory, messages throws(SQLiteError) in
                // This message is checked before other messages are written, because writing may fail.
                try memory.adopt(messages.filter { $0.claim.messageID == message.id })
                let answer = try memory.admit(message, at: clock) { refusal.withLock { $0 = .replayed } }
                if let answer { refusal.withLock { $0 = answer } }
                try memory.adopt(messages.filter { $0.claim.messageID != message.id })
                return answer
            }
        }
        // A refusal by the file counts even if the transaction failed; otherwise the message would be shown again.
        if let failure = refusal.withLock({ $0 }) { return failure }
        return try result.get()
    }

    package func recordInFile(_ claim: MessageClaim?, isShown: Bool, _ report: DeliveryReport?) throws(StoreError) {
        try inFile { [configuration] memory, messages throws(SQLiteError) in
            try memory.adopt(messages)
            if let claim {
                // Added if the file was replaced after the claim.
                if isShown {
                    try memory.adopt([RememberedMessage(claim: claim, time: nil)])
                } else {
                    try memory.release(claim)
                }
            }
            if let report { try memory.database.count(report) }
            if let report, let mark = report.restored { try memory.database.remember(mark, at: report.time) }
            if let receipt = report?.receipt { try memory.database.spool(receipt, configuration) }
        }
    }

    /// - Parameter body: receives the messages that only this process remembers, to write them to the file.
    private func inFile<Value: Sendable>(
        _ body: @Sendable (ReplayMemory, [RememberedMessage]) throws(SQLiteError) -> Value
    ) throws(StoreError) -> Value {
        let messages = unwritten.messages
        let releases = unwrittenReleases.withLock { $0 }
        let receipts = unwrittenReceipts.all
        let value = try sessionTransaction { [role, configuration] database throws(SQLiteError) in
            let memory = ReplayMemory(database: database, role: role, limit: configuration.messageLimit)
            for claim in releases { try memory.release(claim) }
            for receipt in receipts { try database.spool(receipt, configuration) }
            return try body(memory, messages)
        }
        unwritten.remove(messages)
        unwrittenReleases.withLock { $0.removeAll(where: releases.contains) }
        unwrittenReceipts.remove(where: receipts.contains)
        return value
    }
}
