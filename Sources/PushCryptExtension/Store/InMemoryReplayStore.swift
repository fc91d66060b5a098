import PushCryptCore
import PushCryptPrimitives
import PushCryptSQLite

/// Remembers messages that couldn't be written to the file, by the same rules, in a database in memory. The database exists
/// only until its messages were written to the file.
///
/// While only this memory can be used, a retraction works within the process: its message isn't shown afterwards, and one
/// that this memory knows to be shown is removed. It doesn't know what was shown or retracted before, and not the badge: a
/// message that adds to it leaves the icon as it is. All effects are applied to the file with their messages; if the process
/// ends before, they are lost with them.
final class InMemoryReplayStore: Sendable {
    private let role: SharedStore.Role
    private let limit: Int
    private let database = Locked<Database?>(nil)
    /// The messages by name whose effects weren't applied in the file.
    private let stamps = Locked<[String: MessageStamp]>([:])

    init(role: SharedStore.Role, limit: Int) {
        self.role = role
        self.limit = limit
    }

    func claim(_ message: MessageStamp, at clock: Int64) throws(StoreError) -> ClaimAnswer {
        let answer = try withMemory { memory throws(SQLiteError) in
            ClaimAnswer(
                refusal: try memory.admit(message, at: clock) { _ in },
                dueRequestIDs: try memory.dueRequestIDs(at: clock, except: message.requestID))
        }
        if answer.refusal == nil || answer.refusal == .retracted {
            stamps.withLock { $0[message.name] = $0[message.name] ?? message }
        }
        return answer
    }

    func isRetracted(_ message: MessageStamp) -> Bool {
        database.withLock { [role, limit] database in
            database.flatMap { try? ReplayMemory(database: $0, role: role, limit: limit).isRetracted(message) } ?? false
        }
    }

    /// Marks a message as seen, even if it was claimed in the file or its session didn't wait for the claim.
    ///
    /// - Parameter message: the message, for its effects.
    func markSeen(_ claim: MessageClaim, _ message: MessageStamp? = nil) throws(StoreError) {
        if let message { stamps.withLock { $0[message.name] = $0[message.name] ?? message } }
        try withMemory { memory throws(SQLiteError) in
            try memory.adopt([RememberedMessage(claim: claim, time: nil, stamp: message)])
        }
    }

    func release(_ claim: MessageClaim) throws(StoreError) {
        try withMemory { memory throws(SQLiteError) in try memory.release(claim) }
    }

    /// The messages that aren't in the file yet.
    var messages: [RememberedMessage] {
        let stamps = stamps.withLock { $0 }
        return database.withLock { database in
            let rows = try? database?.rows("SELECT name, iat, claimed, token FROM message") { row in
                RememberedMessage(
                    claim: MessageClaim(
                        name: row.text(0) ?? "", issuedAt: UnixTime(row.integer(1) ?? 0),
                        token: row.integer(3) ?? 0),
                    time: row.integer(2), stamp: row.text(0).flatMap { stamps[$0] })
            }
            return rows ?? []
        }
    }

    /// Removes messages that were written to the file, unless they have changed since then.
    func remove(_ messages: [RememberedMessage]) {
        guard !messages.isEmpty else { return }
        database.withLock { database in
            for message in messages {
                _ = try? database?.run(
                    "DELETE FROM message WHERE name = ? AND iat = ? AND claimed IS ? AND token = ?",
                    .text(message.claim.name), .integer(message.claim.issuedAt.seconds), SQLiteValue(message.time),
                    .integer(message.claim.token))
            }
            stamps.withLock { stamps in for message in messages { stamps[message.claim.name] = nil } }
            if let count = try? database?.integer("SELECT count(*) FROM message"), count == 0 { database = nil }
        }
    }

    private func withMemory<Value: Sendable>(
        _ body: @Sendable (ReplayMemory) throws(SQLiteError) -> Value
    ) throws(StoreError) -> Value {
        let result = database.withLock { [role, limit] database in
            Result { () throws(SQLiteError) in
                let memory = if let database { database } else { try Database() }
                if database == nil { try StoreSchema.create(memory) }
                database = memory
                return try memory.transaction { () throws(SQLiteError) in
                    try body(ReplayMemory(database: memory, role: role, limit: limit))
                }
            }
        }
        return try result.mapError(StoreError.init).get()
    }
}

/// The messages that this process has claimed, in the file or in memory. The process shows none of them twice, even if the
/// file can't be used or two copies of a message wait for it.
final class ClaimedMessages: Sendable {
    private struct Claimed {
        var claim: MessageClaim
        /// The time of the claim; nil after the message was seen.
        var time: Int64?
    }

    private struct State {
        var claims: [String: Claimed] = [:]
        /// The names in the order of their claims. Over the limit the first one is removed.
        var order: [String] = []

        mutating func append(_ name: String) {
            order.append(name)
            if order.count > ClaimedMessages.limit { claims[order.removeFirst()] = nil }
        }
    }

    /// An extension's process shows fewer messages.
    static let limit = 1_000

    private let state = Locked(State())

    /// - Parameter clock: within the protocol's range.
    /// - Returns: false if the message was seen or another session of the process is showing it.
    func add(_ claim: MessageClaim, at clock: Int64) -> Bool {
        state.withLock { state in
            if let known = state.claims[claim.name] {
                guard let time = known.time, ReplayMemory.hasLapsed(time, at: clock) else {
                    let latest = max(known.claim.issuedAt, claim.issuedAt)
                    state.claims[claim.name]?.claim = known.claim.with(issuedAt: latest)
                    return false
                }
            } else {
                state.append(claim.name)
            }
            state.claims[claim.name] = Claimed(claim: claim, time: clock)
            return true
        }
    }

    /// Marks a message as seen, also if its claim was refused after its session had gone on without the file.
    ///
    /// - Returns: the claim with the latest `iat` that sessions have received meanwhile.
    @discardableResult
    func markSeen(_ claim: MessageClaim) -> MessageClaim {
        state.withLock { state in
            let known = state.claims[claim.name]
            let latest = claim.with(issuedAt: max(known?.claim.issuedAt ?? claim.issuedAt, claim.issuedAt))
            if known == nil { state.append(claim.name) }
            state.claims[claim.name] = Claimed(
                claim: known?.claim.with(issuedAt: latest.issuedAt) ?? claim, time: nil)
            return latest
        }
    }

    /// Does nothing if another claim has replaced this one, or the message was seen.
    @discardableResult
    func remove(_ claim: MessageClaim) -> MessageClaim {
        state.withLock { state in
            guard let known = state.claims[claim.name], known.claim.token == claim.token, known.time != nil else {
                return claim
            }
            state.claims[claim.name] = nil
            state.order.removeAll { $0 == claim.name }
            return claim
        }
    }
}

extension MessageClaim {
    fileprivate func with(issuedAt: UnixTime) -> MessageClaim {
        MessageClaim(name: name, issuedAt: issuedAt, token: token)
    }
}
