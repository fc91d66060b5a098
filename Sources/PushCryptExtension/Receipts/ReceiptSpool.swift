import PushCryptCore
import PushCryptPrimitives
import PushCryptSQLite

/// A receipt in the store that waits to be sent.
struct SpooledReceipt: Equatable, Sendable {
    /// Grows with every receipt.
    let number: Int64
    let id: String
    let json: [UInt8]
}

/// Receipts that couldn't be written to the file. The next transaction that can use the file writes them to it.
final class UnwrittenReceipts: Sendable {
    /// An extension's process restores fewer pushes.
    static let limit = 100

    private let state = Locked<[Receipt]>([])

    var all: [Receipt] { state.withLock { $0 } }

    func add(_ receipt: Receipt) {
        state.withLock { receipts in
            receipts.append(receipt)
            if receipts.count > Self.limit { receipts.removeFirst() }
        }
    }

    func remove(where isRemoved: @Sendable (Receipt) -> Bool) { state.withLock { $0.removeAll(where: isRemoved) } }
}

extension SharedStore {
    /// Whether the receipt waits to be sent. If the file can't be read, the receipt is assumed to wait.
    func isWaiting(_ receipt: Receipt) -> Bool {
        if unwrittenReceipts.all.contains(receipt) { return true }
        let count = try? transaction { database throws(SQLiteError) in
            try database.integer("SELECT count(*) FROM receipt WHERE id = ?", .text(receipt.id))
        }
        return count != 0
    }

    /// The next receipt that waits to be sent.
    func receipt(after number: Int64) throws(StoreError) -> SpooledReceipt? {
        try transaction { database throws(SQLiteError) in
            try database.first(
                "SELECT number, id, body FROM receipt WHERE number > ? ORDER BY number LIMIT 1", .integer(number)
            ) {
                SpooledReceipt(
                    number: $0.integer(0) ?? 0, id: $0.text(1) ?? "", json: Array(($0.text(2) ?? "").utf8))
            }
        }
    }

    func lastReceiptNumber() throws(StoreError) -> Int64? {
        try transaction { database throws(SQLiteError) in
            try database.integer("SELECT max(number) FROM receipt")
        }
    }

    package func removeReceipt(_ id: String) throws(StoreError) {
        unwrittenReceipts.remove { $0.id == id }
        try transaction { database throws(SQLiteError) in
            _ = try database.run("DELETE FROM receipt WHERE id = ?", .text(id))
        }
    }

    /// Writes receipts that couldn't be written before, and removes old ones.
    func tidyReceipts(at time: UnixTime) throws(StoreError) {
        let unwritten = unwrittenReceipts.all
        try transaction { [configuration] database throws(SQLiteError) in
            for receipt in unwritten { try database.spool(receipt, configuration) }
            try database.removeReceipts(at: time, configuration)
        }
        unwrittenReceipts.remove(where: unwritten.contains)
    }

    /// Returns the number of receipts that wait to be sent. Throws `StoreError`.
    public func receiptCount() throws -> Int {
        try transaction { database throws(SQLiteError) in
            Int(try database.integer("SELECT count(*) FROM receipt") ?? 0)
        }
    }
}

/// The receipts, within a transaction.
extension Database {
    /// Stores a receipt until it was sent, unless it is already stored.
    func spool(_ receipt: Receipt, _ configuration: SharedStore.Configuration) throws(SQLiteError) {
        try removeReceipts(at: receipt.time, configuration)
        try run(
            "INSERT OR IGNORE INTO receipt (id, time, failed, body) VALUES (?, ?, ?, ?)", .text(receipt.id),
            .integer(receipt.time.seconds), .integer(receipt.failure == nil ? 0 : 1),
            .text(String(decoding: receipt.json, as: UTF8.self)))
        try shrinkReceipts(to: configuration.receiptLimit)
    }

    fileprivate func removeReceipts(
        at time: UnixTime, _ configuration: SharedStore.Configuration
    ) throws(SQLiteError) {
        let (oldest, overflow) = time.seconds.subtractingReportingOverflow(configuration.receiptLifetimeInSeconds)
        if !overflow { try run("DELETE FROM receipt WHERE time < ?", .integer(oldest)) }
    }

    /// Removes receipts of failures first: everyone can cause failures, whose receipts must not displace the receipts of
    /// restored pushes.
    private func shrinkReceipts(to limit: Int) throws(SQLiteError) {
        let excess = try (integer("SELECT count(*) FROM receipt") ?? 0) - Int64(max(limit, 0))
        guard excess > 0 else { return }
        try run(
            "DELETE FROM receipt WHERE number IN (SELECT number FROM receipt ORDER BY failed DESC, number LIMIT ?)",
            .integer(excess))
    }
}
