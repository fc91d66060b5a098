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
    /// A newly claimed message's effects are applied in the same transaction, see ``MessageEffects``.
    ///
    /// - Parameter isReserved: the answer of ``reserve(_:at:)``. After false nothing is claimed, but the store remembers the
    ///   later `iat` of a message that was sealed again.
    /// - Throws: an error if nothing can be remembered.
    func claim(_ message: MessageStamp, isReserved: Bool, at time: UnixTime) throws -> ClaimAnswer

    /// Writes all that must be remembered of a push, in one transaction, before its content is handed to the system.
    ///
    /// - Throws: an error if nothing can be remembered.
    func record(_ record: DeliveryRecord) throws -> RecordAnswer

    /// Whether a message was retracted, right after it was shown.
    ///
    /// - Throws: an error if it can't be read.
    func isRetracted(_ message: MessageStamp) throws -> Bool
}

extension DeliveryMemory {
    package func highestIssuedAt(at time: UnixTime) throws -> UnixTime? { nil }
    package func reserve(_ message: MessageStamp, at time: UnixTime) -> Bool { true }
    package func isRetracted(_ message: MessageStamp) throws -> Bool { false }
}

/// The store's answer to a claim.
package struct ClaimAnswer: Sendable {
    /// Why the message isn't shown: `expired`, `notYetValid`, `retracted`, or `replayed` if it was seen, is claimed, or is
    /// too old to be remembered; nil if the message is claimed.
    package var refusal: FailureClass?
    /// The number for the app's icon, if the message changes it and it is known.
    package var badge: Int?
    /// The notifications to remove from the screen: their messages were retracted, by this one or earlier, or have expired.
    package var dueRequestIDs: [String] = []

    package init(refusal: FailureClass? = nil, badge: Int? = nil, dueRequestIDs: [String] = []) {
        (self.refusal, self.badge, self.dueRequestIDs) = (refusal, badge, dueRequestIDs)
    }
}

/// What a session writes before its content is handed to the system.
package struct DeliveryRecord: Sendable {
    /// nil for a push that claimed no message.
    package var claim: MessageClaim?
    /// Whether the claimed message becomes seen; otherwise its claim is released, unless another claim has replaced it.
    package var isShown: Bool
    /// Counted; nil counts nothing. Nothing is counted if ``message`` was retracted.
    package var report: DeliveryReport?
    /// The message whose text is about to be shown; nil for other content.
    package var message: MessageStamp?
    /// The name of the notification, if it shows other content than a message's text.
    package var replacedRequestID: String?
    /// The notifications that the session has removed from the screen.
    package var removedRequestIDs: [String] = []

    package init(claim: MessageClaim? = nil, isShown: Bool = false, report: DeliveryReport? = nil) {
        (self.claim, self.isShown, self.report) = (claim, isShown, report)
    }
}

/// The store's answer to a record.
package struct RecordAnswer: Sendable {
    /// Whether the message was retracted: then its text must not be shown.
    package var isRetracted = false
    /// The present number for the app's icon, if the message changes it and it is known.
    package var badge: Int?

    package init(isRetracted: Bool = false, badge: Int? = nil) {
        (self.isRetracted, self.badge) = (isRetracted, badge)
    }
}

/// The right to show a message. Only one session has it at a time.
package struct MessageClaim: Hashable, Sendable {
    /// The message's name, see ``OpenedPush/name``.
    package let name: String
    /// The message's `iat`.
    package let issuedAt: UnixTime
    /// Distinguishes this claim from other claims of the message.
    package let token: Int64

    /// Creates a claim; the default token is random.
    package init(name: String, issuedAt: UnixTime, token: Int64 = .random(in: .min ... .max)) {
        self.name = name
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

    package func claim(_ message: MessageStamp, isReserved: Bool, at time: UnixTime) throws -> ClaimAnswer {
        guard isReserved else { return ClaimAnswer(refusal: repeated(message, at: Self.clock(time))) }
        let answer = try answer(to: message, at: time)
        if answer.refusal != nil { claimedMessages.remove(message.claim) }
        return answer
    }

    /// - Returns: why a message isn't shown that another session of the process has claimed.
    private func repeated(_ message: MessageStamp, at clock: Int64) -> FailureClass {
        let isRetracted = try? inFile { memory, unwritten throws(SQLiteError) in
            try unwritten.write(memory)
            try memory.prolong(message.claim)
            let isRetracted = try memory.isRetracted(message)
            try memory.register(message, isRetracted: isRetracted, at: clock)
            return isRetracted
        }
        return isRetracted ?? unwritten.isRetracted(message) ? .retracted : .replayed
    }

    private func answer(to message: MessageStamp, at time: UnixTime) throws(StoreError) -> ClaimAnswer {
        // Sums of times outside the range could overflow. The opener refuses such times, but a caller may pass any.
        let range = UnixTime.protocolRange
        guard range.contains(message.issuedAt.seconds), range.contains(message.expiresAt.seconds) else {
            return ClaimAnswer(refusal: .replayed)
        }
        let clock = Self.clock(time)
        do throws(StoreError) {
            return try claimInFile(message, at: clock)
        } catch {
            return try unwritten.claim(message, at: clock)
        }
    }

    package func isRetracted(_ message: MessageStamp) throws -> Bool {
        do throws(StoreError) {
            return try inFile { memory, unwritten throws(SQLiteError) in
                try unwritten.write(memory)
                return try memory.isRetracted(message)
            }
        } catch {
            return unwritten.isRetracted(message)
        }
    }

    package func highestIssuedAt(at time: UnixTime) throws -> UnixTime? {
        let state = try sessionTransaction { [role] database throws(SQLiteError) in
            try ReplayState.read(database, role)
        }
        return state.highest(at: Self.clock(time)).map { UnixTime($0) }
    }

    /// The time within the protocol's range.
    static func clock(_ time: UnixTime) -> Int64 {
        min(max(time.seconds, UnixTime.protocolRange.lowerBound), UnixTime.protocolRange.upperBound)
    }

    package func record(_ record: DeliveryRecord) throws -> RecordAnswer {
        var record = record
        record.claim = record.claim.map { record.isShown ? claimedMessages.markSeen($0) : claimedMessages.remove($0) }
        do throws(StoreError) {
            return try recordInFile(record)
        } catch {
            let isRetracted = record.message.map(unwritten.isRetracted) ?? false
            if !isRetracted, let receipt = record.report?.receipt { unwrittenReceipts.add(receipt) }
            switch record.claim {
            case let claim? where record.isShown: try unwritten.markSeen(claim, record.message)
            case let claim?:
                unwrittenReleases.withLock { $0.append(claim) }
                try unwritten.release(claim)
            case nil: guard record.message != nil else { throw error }
            }
            return RecordAnswer(isRetracted: isRetracted)
        }
    }
}

extension SharedStore {
    /// Claims a message in the file only.
    ///
    /// - Parameter clock: within the protocol's range, as are the times of the message.
    package func claimInFile(_ message: MessageStamp, at clock: Int64) throws(StoreError) -> ClaimAnswer {
        let refusal = Locked<FailureClass?>(nil)
        let result = Result { () throws(StoreError) in
            try inFile { memory, unwritten throws(SQLiteError) in
                // This message is checked before anything else is written, because writing may fail.
                try unwritten.write(memory) { $0.name == message.name }
                let failure = try memory.admit(message, at: clock) { failure in
                    refusal.withLock { $0 = $0 ?? failure }
                }
                if let failure { refusal.withLock { $0 = failure } }
                try unwritten.write(memory) { $0.name != message.name }
                try unwritten.spool(memory)
                return ClaimAnswer(
                    refusal: failure, badge: try memory.badge(for: message),
                    dueRequestIDs: try memory.dueRequestIDs(at: clock, except: message.requestID))
            }
        }
        // A refusal by the file counts even if the transaction failed, or ran again on a new file; otherwise the message would
        // be shown again.
        guard let failure = refusal.withLock({ $0 }) else { return try result.get() }
        var answer = (try? result.get()) ?? ClaimAnswer()
        answer.refusal = failure
        return answer
    }

    package func recordInFile(_ record: DeliveryRecord) throws(StoreError) -> RecordAnswer {
        try inFile { [configuration] memory, unwritten throws(SQLiteError) in
            try unwritten.write(memory)
            if let claim = record.claim {
                // Added with its effects if the file was replaced after the claim, or if the session didn't wait for the
                // claim, which comes later.
                if record.isShown {
                    let isKnown = try memory.knows(claim)
                    try memory.adopt([RememberedMessage(claim: claim, time: nil)])
                    if let message = record.message {
                        if !isKnown { try memory.apply(message, latest: nil) }
                        // Also of a message that another process has shown, under another name.
                        let clock = Self.clock(record.report?.time ?? message.issuedAt)
                        try memory.registerIfMissing(message, isRetracted: memory.isRetracted(message), at: clock)
                    }
                } else {
                    try memory.release(claim)
                }
            }
            if let requestID = record.replacedRequestID { try memory.forgetReplaced(requestID) }
            if let time = record.report?.time {
                try ReplayMemory.forget(record.removedRequestIDs, in: memory.database, at: Self.clock(time))
            }
            var answer = RecordAnswer()
            if let message = record.message {
                answer = RecordAnswer(
                    isRetracted: try memory.isRetracted(message), badge: try memory.badge(for: message))
            }
            guard let report = record.report, !answer.isRetracted else { return answer }
            try memory.database.count(report)
            if let mark = report.restored { try memory.database.remember(mark, at: report.time) }
            if let receipt = report.receipt { try memory.database.spool(receipt, configuration) }
            return answer
        }
    }

    /// - Parameter body: receives what only this process remembers, and writes it to the file.
    private func inFile<Value: Sendable>(
        _ body: @Sendable (ReplayMemory, Unwritten) throws(SQLiteError) -> Value
    ) throws(StoreError) -> Value {
        let unwritten = Unwritten(
            messages: self.unwritten.messages, releases: unwrittenReleases.withLock { $0 },
            receipts: unwrittenReceipts.all, configuration: configuration)
        let value = try sessionTransaction { [role, configuration] database throws(SQLiteError) in
            try body(ReplayMemory(database: database, role: role, limit: configuration.messageLimit), unwritten)
        }
        self.unwritten.remove(unwritten.messages)
        unwrittenReleases.withLock { $0.removeAll(where: unwritten.releases.contains) }
        unwrittenReceipts.remove(where: unwritten.receipts.contains)
        return value
    }
}

/// What couldn't be written to the file before.
private struct Unwritten: Sendable {
    let messages: [RememberedMessage]
    let releases: [MessageClaim]
    let receipts: [Receipt]
    let configuration: SharedStore.Configuration

    func write(_ memory: ReplayMemory) throws(SQLiteError) {
        try write(memory) { _ in true }
        try spool(memory)
    }

    func spool(_ memory: ReplayMemory) throws(SQLiteError) {
        for receipt in receipts { try memory.database.spool(receipt, configuration) }
    }

    /// - Parameter isWritten: chooses the claims and releases to write.
    func write(_ memory: ReplayMemory, where isWritten: (MessageClaim) -> Bool) throws(SQLiteError) {
        for claim in releases where isWritten(claim) { try memory.release(claim) }
        try memory.adopt(messages.filter { isWritten($0.claim) })
    }
}
