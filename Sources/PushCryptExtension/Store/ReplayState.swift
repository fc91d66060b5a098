import PushCryptCore
import PushCryptSQLite

/// What a role remembers beside the messages themselves.
struct ReplayState: Equatable {
    /// H: the highest `iat` accepted so far.
    var highest: Int64?
    /// Messages that aren't remembered and not issued after it may have been forgotten.
    var floor: Int64?

    static func read(_ database: Database, _ role: SharedStore.Role) throws(SQLiteError) -> ReplayState {
        let row = try database.first(
            "SELECT highest, floor, digest FROM reader WHERE role = ?", .integer(role.number)
        ) { row in (ReplayState(highest: row.integer(0), floor: row.integer(1)), row.integer(2)) }
        guard let (state, digest) = row else { return ReplayState() }
        // SQLite doesn't notice a changed number, and one that is too high would refuse every message to come.
        guard digest == state.digest(role) else { throw SQLiteError(.damaged, "a number in the store was changed") }
        return state
    }

    func write(_ database: Database, _ role: SharedStore.Role) throws(SQLiteError) {
        try database.run(
            "INSERT OR REPLACE INTO reader (role, highest, floor, digest) VALUES (?, ?, ?, ?)",
            .integer(role.number), SQLiteValue(highest), SQLiteValue(floor), .integer(digest(role)))
    }

    /// FNV-1a, against accidents: whoever can write the file could also compute it.
    private func digest(_ role: SharedStore.Role) -> Int64 {
        let text = "\(role.number) \(highest ?? -1) \(floor ?? -1)"
        let hash = text.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        return Int64(bitPattern: hash)
    }
}
