public import PushCryptCore
import PushCryptPrimitives
import PushCryptSQLite

/// The outcome of one push for the backend, without its content.
///
/// ```
/// {"id": ID, "push": PUSH, "outcome": "opened" | CLASS, "time": UNIX SECONDS, "kid": KID, "suppressed": true}
/// ```
/// `push` is missing if the push is unknown, `kid` if the push was restored or couldn't be read, `suppressed` if the push
/// was shown or its stages haven't run yet.
public struct Receipt: Hashable, Sendable {
    /// The id of the receipt. It is the same every time the receipt is sent, so that the server can ignore duplicates.
    public let id: String
    /// `push_id` of the payload, or without one the message id, 22 characters of base64url.
    public let pushID: String?
    /// Why the push wasn't restored completely; nil if it was.
    public let failure: FailureClass?
    /// When the push was opened or failed.
    public let time: UnixTime
    /// The key that the push names; nil if the push was restored completely.
    public let kid: KeyID?

    /// Whether the push wasn't shown, because the app may suppress it.
    public let isSuppressed: Bool

    /// The length limit of `push_id`. A longer one is replaced by the message id.
    static let pushIDByteLimit = 256

    /// Creates the receipt of a report.
    ///
    /// - Throws: `CryptoError` if no random bytes for an id are available.
    public init(_ report: DeliveryReport) throws {
        let named = report.pushID.flatMap { $0.utf8.count <= Self.pushIDByteLimit ? $0 : nil }
        // App and extension get the same id if both restore the message.
        id =
            if let message = report.messageID {
                report.failure.map { "\(message)-\($0)" } ?? message
            } else {
                Base64URL.encode(try DefaultBackend.shared.randomBytes(count: MessageHeader.idByteCount))
            }
        pushID = named ?? report.messageID
        failure = report.failure
        isSuppressed = report.isSuppressed
        time = report.time
        kid = report.failure == nil ? nil : report.kid
    }

    /// The receipt as JSON, UTF-8.
    public var json: [UInt8] {
        var json: [UInt8] = []
        func append(_ name: StaticString, _ value: String?) {
            guard let value else { return }
            json += "\(name)".utf8
            JSONWriter.appendString(value, to: &json)
        }
        append(#"{"id":"#, id)
        append(#","push":"#, pushID)
        append(#","outcome":"#, failure?.rawValue ?? "opened")
        json += #","time":\#(time.seconds)"#.utf8
        append(#","kid":"#, kid?.description)
        if isSuppressed { json += #","suppressed":true"#.utf8 }
        json.append(UInt8(ascii: "}"))
        return json
    }
}

/// A receipt in the store that waits to be sent.
struct SpooledReceipt: Equatable, Sendable {
    /// Grows with every receipt.
    let number: Int64
    let json: [UInt8]
}

extension SharedStore {
    /// Stores a receipt until it was sent.
    ///
    /// - Returns: the receipt's number; nil if the receipt is already stored.
    func spool(_ receipt: Receipt) throws(StoreError) -> Int64? {
        let json = String(decoding: receipt.json, as: UTF8.self)
        return try transaction { [configuration] database throws(SQLiteError) in
            try database.removeReceipts(at: receipt.time, lifetime: configuration.receiptLifetimeInSeconds)
            let number = try database.insert(receipt, json)
            try database.shrinkReceipts(to: configuration.receiptLimit)
            return number
        }
    }

    func receipt(after number: Int64) throws(StoreError) -> SpooledReceipt? {
        try transaction { database throws(SQLiteError) in
            try database.first(
                "SELECT number, body FROM receipt WHERE number > ? ORDER BY number LIMIT 1", .integer(number)
            ) { SpooledReceipt(number: $0.integer(0) ?? 0, json: Array(($0.text(1) ?? "").utf8)) }
        }
    }

    func receipt(_ number: Int64) throws(StoreError) -> SpooledReceipt? {
        try receipt(after: number - 1).flatMap { $0.number == number ? $0 : nil }
    }

    func lastReceiptNumber() throws(StoreError) -> Int64? {
        try transaction { database throws(SQLiteError) in
            try database.integer("SELECT max(number) FROM receipt")
        }
    }

    func removeReceipt(_ number: Int64) throws(StoreError) {
        try transaction { database throws(SQLiteError) in
            _ = try database.run("DELETE FROM receipt WHERE number = ?", .integer(number))
        }
    }

    func removeOldReceipts(at time: UnixTime) throws(StoreError) {
        try transaction { [lifetime = configuration.receiptLifetimeInSeconds] database throws(SQLiteError) in
            try database.removeReceipts(at: time, lifetime: lifetime)
        }
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
    fileprivate func insert(_ receipt: Receipt, _ json: String) throws(SQLiteError) -> Int64? {
        let count = try run(
            "INSERT OR IGNORE INTO receipt (id, time, failed, body) VALUES (?, ?, ?, ?)", .text(receipt.id),
            .integer(receipt.time.seconds), .integer(receipt.failure == nil ? 0 : 1), .text(json))
        return count > 0 ? try integer("SELECT number FROM receipt WHERE id = ?", .text(receipt.id)) : nil
    }

    fileprivate func removeReceipts(at time: UnixTime, lifetime: Int64) throws(SQLiteError) {
        let (oldest, overflow) = time.seconds.subtractingReportingOverflow(lifetime)
        if !overflow { try run("DELETE FROM receipt WHERE time < ?", .integer(oldest)) }
    }

    /// Removes receipts of failures first: everyone can cause failures, whose receipts must not displace the receipts of
    /// restored pushes.
    fileprivate func shrinkReceipts(to limit: Int) throws(SQLiteError) {
        let excess = try (integer("SELECT count(*) FROM receipt") ?? 0) - Int64(max(limit, 0))
        guard excess > 0 else { return }
        try run(
            "DELETE FROM receipt WHERE number IN (SELECT number FROM receipt ORDER BY failed DESC, number LIMIT ?)",
            .integer(excess))
    }
}
