import PushCryptPrimitives
import PushCryptSQLite

/// The number on the app's icon, which all extension processes and the app count together (PROTOCOL section 11).
///
/// ```
/// add n   value = clamp(value + n)
/// set n   unless iat is below that of the last message that set it: value = clamp(n)
/// clamp   to 0 … 9,999
/// ```
struct BadgeCounter: Equatable {
    static let range = 0...9_999

    var value = 0
    /// The `iat` of the last message that set the value.
    var issuedAt: Int64?

    /// - Parameter latest: the highest accepted `iat`. A later stored one comes from a clock that was ahead, or from damage:
    ///   it would refuse all further messages.
    mutating func apply(_ change: MessageEffects.BadgeChange, issuedAt iat: Int64, latest: Int64?) {
        switch change {
        case .add(let increment):
            let (sum, overflow) = value.addingReportingOverflow(increment)
            value = Self.clamp(overflow ? increment : sum)
        case .set(let number):
            if let issuedAt, iat < issuedAt, issuedAt <= latest ?? .max { return }
            (value, issuedAt) = (Self.clamp(number), iat)
        }
    }

    static func clamp(_ number: Int) -> Int { min(max(number, range.lowerBound), range.upperBound) }

    static func read(_ database: Database) throws(SQLiteError) -> BadgeCounter {
        try database.first("SELECT value, iat FROM badge") { row in
            BadgeCounter(value: clamp(Int(clamping: row.integer(0) ?? 0)), issuedAt: row.integer(1))
        } ?? BadgeCounter()
    }

    func write(_ database: Database) throws(SQLiteError) {
        try database.run(
            "INSERT OR REPLACE INTO badge (number, value, iat) VALUES (1, ?, ?)", .integer(Int64(value)),
            SQLiteValue(issuedAt))
    }
}

extension SharedStore {
    /// Returns the number on the app's icon as the extension counts it, 0 to 9,999.
    ///
    /// - Throws: `StoreError`.
    public func badge() throws -> Int {
        try transaction { database throws(SQLiteError) in try BadgeCounter.read(database).value }
    }

    /// Sets the number that the extension counts on from: 0 when everything was read. It doesn't change the icon, which the
    /// app sets with `UNUserNotificationCenter.setBadgeCount(_:)`.
    ///
    /// - Parameter number: a number outside 0 to 9,999 becomes the nearest one inside.
    /// - Throws: `StoreError`.
    public func setBadge(_ number: Int) throws {
        try transaction { database throws(SQLiteError) in
            var badge = try BadgeCounter.read(database)
            badge.value = BadgeCounter.clamp(number)
            try badge.write(database)
        }
    }
}
