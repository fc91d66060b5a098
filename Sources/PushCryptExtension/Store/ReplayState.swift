import PushCryptCore
import PushCryptSQLite

/// The times that a role remembers in addition to the messages (PROTOCOL section 5).
///
/// ```
/// believed   L if it is at most a day ahead of the clock, else H
/// correct    if L isn't believed: L = H, since = clock, floor = min(floor, max(clock, H))
/// accept     if clock >= since + a day: H = min(L, H + window), since = clock
///            since = min(since, clock), L = max(L, iat)
/// ```
/// While the clock is years ahead, one message can raise L by years. H follows only if the clock still has that time a day
/// later. All clocks are within the protocol's range.
struct ReplayState: Equatable {
    static let dayInSeconds: Int64 = 86_400

    /// L: the highest accepted `iat`.
    var latest: Int64?
    /// H: the confirmed part of L. It never decreases.
    var confirmed: Int64?
    /// When the waiting time of one day began, after which L is confirmed.
    var since: Int64?
    /// An unknown message that was issued at or before this time may have been forgotten.
    var floor: Int64?

    /// The highest `iat` that freshness may rely on.
    func highest(at clock: Int64) -> Int64? { isContradicted(by: clock) ? confirmed : latest }

    mutating func correct(at clock: Int64) {
        guard isContradicted(by: clock) else { return }
        latest = confirmed
        since = clock
        floor = floor.map { min($0, max(clock, confirmed ?? clock)) }
    }

    mutating func accept(_ issuedAt: Int64, at clock: Int64) {
        if let since, let latest, clock - since >= Self.dayInSeconds {
            confirmed = confirmed.map { min(latest, $0 + MessageHeader.windowInSeconds) } ?? latest
            self.since = clock
        }
        since = min(since ?? clock, clock)
        latest = max(latest ?? issuedAt, issuedAt)
    }

    private func isContradicted(by clock: Int64) -> Bool {
        guard let latest else { return false }
        return latest > clock + Self.dayInSeconds && latest > confirmed ?? .min
    }

    static func read(_ database: Database, _ role: SharedStore.Role) throws(SQLiteError) -> ReplayState {
        let row = try database.first(
            "SELECT latest, confirmed, since, floor, digest FROM reader WHERE role = ?", .integer(role.number)
        ) { row in
            let state = ReplayState(
                latest: row.integer(0), confirmed: row.integer(1), since: row.integer(2), floor: row.integer(3))
            return (state, row.integer(4))
        }
        guard let (state, digest) = row else { return ReplayState() }
        // SQLite doesn't detect a changed number, and too high a number would make it refuse all later messages.
        guard digest == state.digest(role) else { throw SQLiteError(.damaged, "a number in the store was changed") }
        return state
    }

    func write(_ database: Database, _ role: SharedStore.Role) throws(SQLiteError) {
        try database.run(
            "INSERT OR REPLACE INTO reader (role, latest, confirmed, since, floor, digest) VALUES (?, ?, ?, ?, ?, ?)",
            .integer(role.number), SQLiteValue(latest), SQLiteValue(confirmed), SQLiteValue(since), SQLiteValue(floor),
            .integer(digest(role)))
    }

    /// FNV-1a. It detects accidental changes only: an attacker who can write the file can compute it.
    private func digest(_ role: SharedStore.Role) -> Int64 {
        let numbers = [role.number] + [latest, confirmed, since, floor].map { $0 ?? -1 }
        let text = numbers.map(String.init).joined(separator: " ")
        let hash = text.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        return Int64(bitPattern: hash)
    }
}
