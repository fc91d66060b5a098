import PushCryptCore
import PushCryptSQLite

/// The messages that a role has claimed (PROTOCOL section 5), within a transaction.
///
/// ```
/// (id, iat) are kept until iat + window + 10 min < H
/// when full, the smallest iat goes and everything at or below it is refused
/// a claim lapses after 60 s
/// ```
struct ReplayMemory {
    static let claimLifetimeInSeconds: Int64 = 60
    /// How far below H a message is still remembered.
    static let memoryInSeconds = MessageHeader.windowInSeconds + Freshness.toleranceInSeconds

    let database: Database
    let role: SharedStore.Role
    let limit: Int

    func claim(_ id: String, issuedAt: Int64, at time: Int64) throws(SQLiteError) -> Bool {
        var state = try ReplayState.read(database, role)
        if let claimed = try claimTime(of: id) {
            guard let claimed, Self.hasLapsed(claimed, at: time) else { return false }
            try database.run(
                "UPDATE message SET claimed = ? WHERE role = ? AND id = ?", .integer(time), .integer(role.number),
                .text(id))
            return true
        }
        if let floor = state.floor, issuedAt <= floor { return false }
        if let highest = state.highest, issuedAt < highest - Self.memoryInSeconds { return false }
        try database.run(
            "INSERT INTO message (role, id, iat, claimed) VALUES (?, ?, ?, ?)", .integer(role.number), .text(id),
            .integer(issuedAt), .integer(time))
        let highest = max(state.highest ?? issuedAt, issuedAt)
        state.highest = highest
        try forget(before: highest - Self.memoryInSeconds)
        try evict(&state)
        try state.write(database, role)
        return true
    }

    func markSeen(_ id: String) throws(SQLiteError) {
        try database.run(
            "UPDATE message SET claimed = NULL WHERE role = ? AND id = ?", .integer(role.number), .text(id))
    }

    /// In both directions: a clock that was set back must not make a claim last for years.
    private static func hasLapsed(_ claimed: Int64, at time: Int64) -> Bool {
        let (difference, overflow) = time.subtractingReportingOverflow(claimed)
        return overflow || difference.magnitude >= UInt64(claimLifetimeInSeconds)
    }

    /// - Returns: nil for an id that isn't remembered; a nil inside for one that was seen.
    private func claimTime(of id: String) throws(SQLiteError) -> Int64?? {
        try database.first(
            "SELECT claimed FROM message WHERE role = ? AND id = ?", .integer(role.number), .text(id)
        ) { $0.integer(0) }
    }

    private func forget(before oldest: Int64) throws(SQLiteError) {
        try database.run("DELETE FROM message WHERE role = ? AND iat < ?", .integer(role.number), .integer(oldest))
    }

    /// The new message may be the one that goes: it was granted, and the floor refuses it from now on.
    private func evict(_ state: inout ReplayState) throws(SQLiteError) {
        let count = try database.first("SELECT count(*) FROM message WHERE role = ?", .integer(role.number)) {
            $0.integer(0) ?? 0
        }
        let excess = (count ?? 0) - Int64(max(limit, 1))
        guard excess > 0 else { return }
        let oldest = try database.rows(
            "SELECT id, iat FROM message WHERE role = ? ORDER BY iat, id LIMIT ?",
            [.integer(role.number), .integer(excess)]
        ) { (id: $0.text(0) ?? "", issuedAt: $0.integer(1) ?? 0) }
        for message in oldest {
            try database.run("DELETE FROM message WHERE role = ? AND id = ?", .integer(role.number), .text(message.id))
            state.floor = max(state.floor ?? message.issuedAt, message.issuedAt)
        }
    }
}
