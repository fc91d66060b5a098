import PushCryptCore
import PushCryptSQLite

/// A receipt that waits to be sent.
struct SpooledReceipt: Equatable, Sendable {
    /// Grows with every receipt.
    let number: Int64
    let json: [UInt8]
}

extension SharedStore {
    /// Keeps a receipt until it was sent.
    ///
    /// - Returns: its number; nil for one that waits already.
    func spool(_ receipt: Receipt) throws(StoreError) -> Int64? {
        let json = String(decoding: receipt.json, as: UTF8.self)
        return try transaction { [configuration] database throws(SQLiteError) in
            let table = ReceiptTable(database: database)
            try table.remove(issuedBefore: receipt.time.seconds, lifetime: configuration.receiptLifetimeInSeconds)
            let number = try table.insert(receipt, json)
            try table.shrink(to: configuration.receiptLimit)
            return number
        }
    }

    /// The first receipt after that number.
    func receipt(after number: Int64) throws(StoreError) -> SpooledReceipt? {
        try perform { database throws(SQLiteError) in
            try database.first(
                "SELECT number, body FROM receipt WHERE number > ? ORDER BY number LIMIT 1", .integer(number)
            ) { SpooledReceipt(number: $0.integer(0) ?? 0, json: Array(($0.text(1) ?? "").utf8)) }
        }
    }

    /// nil for one that isn't there any more.
    func receipt(_ number: Int64) throws(StoreError) -> SpooledReceipt? {
        try receipt(after: number - 1).flatMap { $0.number == number ? $0 : nil }
    }

    func lastReceiptNumber() throws(StoreError) -> Int64? {
        try perform { database throws(SQLiteError) in
            try database.first("SELECT max(number) FROM receipt") { $0.integer(0) } ?? nil
        }
    }

    func removeReceipt(_ number: Int64) throws(StoreError) {
        try perform { database throws(SQLiteError) in
            _ = try database.run("DELETE FROM receipt WHERE number = ?", .integer(number))
        }
    }

    func removeOldReceipts(at time: UnixTime) throws(StoreError) {
        try perform { [lifetime = configuration.receiptLifetimeInSeconds] database throws(SQLiteError) in
            try ReceiptTable(database: database).remove(issuedBefore: time.seconds, lifetime: lifetime)
        }
    }

    /// How many receipts wait to be sent.
    ///
    /// - Throws: `StoreError`.
    public func receiptCount() throws -> Int {
        try perform { database throws(SQLiteError) in
            Int(try database.first("SELECT count(*) FROM receipt") { $0.integer(0) ?? 0 } ?? 0)
        }
    }
}

/// The receipts, within a transaction.
private struct ReceiptTable {
    let database: Database

    func insert(_ receipt: Receipt, _ json: String) throws(SQLiteError) -> Int64? {
        let count = try database.run(
            "INSERT OR IGNORE INTO receipt (id, time, failed, body) VALUES (?, ?, ?, ?)", .text(receipt.id),
            .integer(receipt.time.seconds), .integer(receipt.failure == nil ? 0 : 1), .text(json))
        guard count > 0 else { return nil }
        return try database.first("SELECT number FROM receipt WHERE id = ?", .text(receipt.id)) { $0.integer(0) ?? 0 }
    }

    func remove(issuedBefore time: Int64, lifetime: Int64) throws(SQLiteError) {
        let (oldest, overflow) = time.subtractingReportingOverflow(lifetime)
        guard !overflow else { return }
        try database.run("DELETE FROM receipt WHERE time < ?", .integer(oldest))
    }

    /// Failures go first: anybody can cause them, and must not push out what was restored.
    func shrink(to limit: Int) throws(SQLiteError) {
        let count = try database.first("SELECT count(*) FROM receipt") { $0.integer(0) ?? 0 } ?? 0
        let excess = count - Int64(max(limit, 0))
        guard excess > 0 else { return }
        try database.run(
            "DELETE FROM receipt WHERE number IN (SELECT number FROM receipt ORDER BY failed DESC, number LIMIT ?)",
            .integer(excess))
    }
}
