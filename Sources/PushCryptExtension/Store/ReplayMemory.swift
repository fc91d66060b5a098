import PushCryptCore
import PushCryptSQLite

/// The messages that a role has claimed (PROTOCOL section 5), within a transaction.
///
/// ```
/// (id, iat) are kept until iat + window + 10 min < H; of a message that was sealed again, the latest iat that was seen
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

    /// - Parameter refuse: called where the message is refused for a repeat, whatever becomes of what is written then.
    func claim(
        _ id: String, issuedAt: Int64, at time: Int64, refuse: () -> Void
    ) throws(SQLiteError) -> Bool {
        var state = try ReplayState.read(database, role)
        guard try grant(id, issuedAt, at: time, state, refuse) else { return false }
        let highest = max(state.highest ?? issuedAt, issuedAt)
        state.highest = highest
        try forget(before: highest - Self.memoryInSeconds)
        try evict(&state)
        try state.write(database, role)
        return true
    }

    private func grant(
        _ id: String, _ issuedAt: Int64, at time: Int64, _ state: ReplayState, _ refuse: () -> Void
    ) throws(SQLiteError) -> Bool {
        if let claimed = try claimTime(of: id) {
            let isGranted = claimed.map { Self.hasLapsed($0, at: time) } ?? false
            if !isGranted { refuse() }
            try keep(id, issuedAt)
            guard isGranted else { return false }
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
        return true
    }

    /// A campaign's message that was sealed again has the same id and a later iat. It may be shown for longer than the
    /// first, so it is remembered for longer: a relay could hold it back until the first is forgotten.
    private func keep(_ id: String, _ issuedAt: Int64) throws(SQLiteError) {
        // Nothing is written for the same bytes once more, which anyone can send.
        try database.run(
            "UPDATE message SET iat = ?1 WHERE role = ?2 AND id = ?3 AND iat < ?1", .integer(issuedAt),
            .integer(role.number), .text(id))
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
