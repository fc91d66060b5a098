import PushCryptCore
import PushCryptSQLite

/// The counters, within a transaction. Bounded, because the names of classes and stages may come from an app's code.
struct CounterTable {
    enum Kind: Int64 {
        case opened = 0
        case failure = 1
        case stage = 2

        /// How many names that aren't the protocol's it may have.
        var limit: Int64 { self == .stage ? 64 : 32 }
    }

    static let nameByteLimit = 64
    /// Nobody counts further, and a damaged number doesn't overflow.
    private static let countLimit: Int64 = 1 << 53

    let database: Database

    func count(
        _ kind: Kind, _ name: String = "", _ ending: String = "", at time: UnixTime, kid: KeyID?
    ) throws(SQLiteError) {
        let name = Self.shortened(name)
        let (key, end) = try hasRoom(kind, name, ending) ? (name, ending) : (FailureClass.other.rawValue, "")
        try database.run(
            """
            INSERT INTO counter (kind, name, ending, count, recent, time, kid) VALUES (?, ?, ?, 1, 1, ?, ?)
            ON CONFLICT (kind, name, ending) DO UPDATE SET
                count = min(max(count, 0), ?) + 1, recent = min(max(recent, 0), ?) + 1,
                time = excluded.time, kid = excluded.kid
            """,
            .integer(kind.rawValue), .text(key), .text(end), .integer(time.seconds), SQLiteValue(kid?.description),
            .integer(Self.countLimit), .integer(Self.countLimit))
    }

    private func hasRoom(_ kind: Kind, _ name: String, _ ending: String) throws(SQLiteError) -> Bool {
        if kind == .opened || kind == .failure && FailureClass.protocolNames.contains(name) { return true }
        let isKnown = try database.first(
            "SELECT 1 FROM counter WHERE kind = ? AND name = ? AND ending = ?", .integer(kind.rawValue), .text(name),
            .text(ending)
        ) { _ in true }
        if isKnown == true { return true }
        let names = try database.rows("SELECT name FROM counter WHERE kind = ?", [.integer(kind.rawValue)]) {
            $0.text(0) ?? ""
        }
        return names.count { !FailureClass.protocolNames.contains($0) } < kind.limit
    }

    private static func shortened(_ name: String) -> String {
        var short = Substring(name)
        while short.utf8.count > nameByteLimit { short.removeLast() }
        return String(short)
    }

    func rows() throws(SQLiteError) -> [Row] {
        try database.rows("SELECT kind, name, ending, count, recent, time, kid FROM counter") { row in
            Row(
                kind: row.integer(0).flatMap(Kind.init), name: row.text(1) ?? "", ending: row.text(2) ?? "",
                counter: DeliveryStatistics.Counter(
                    count: Int(clamping: row.integer(3) ?? 0), recentCount: Int(clamping: row.integer(4) ?? 0),
                    lastTime: UnixTime(row.integer(5) ?? 0), lastKid: row.text(6).flatMap { KeyID($0) }))
        }
    }

    struct Row: Sendable {
        let kind: Kind?
        let name: String
        let ending: String
        let counter: DeliveryStatistics.Counter
    }
}

extension FailureClass {
    fileprivate static let protocolNames: Set<String> = Set(
        [
            notSealed, malformed, unsupportedVersion, unknownKey, keyLocked, keyExpired, keyRevoked, undecryptable,
            expired, notYetValid, replayed, timedOut, attachmentFailed, internalError,
        ].map(\.rawValue))
}
