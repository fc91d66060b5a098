import PushCryptCore
import PushCryptPrimitives

/// Chooses between lines with the same name in a file of JSON lines.
///
/// ```
/// an invalid record and a valid one    the valid one is used
/// the same recipient twice             the one with the newer device set is used, or the first
/// different recipients                 a collision: none is used
/// ```
/// An attacker who can add a line can't remove a recipient from the directory with a key that doesn't match its kid.
struct DuplicateRule {
    struct Line {
        /// Counted from 1.
        let number: Int
        var text: [UInt8]
        let record: StoredRecord
    }

    struct SkippedLine {
        let number: Int
        let reason: String
    }

    /// The line to use if there is no collision.
    private(set) var line: Line
    /// The number of the first line with a different recipient of the same name.
    private var collidingNumber: Int?

    init(_ first: Line) { line = first }

    /// - Parameter other: a later line with the same name. It is wiped unless it replaces ``line``.
    /// - Returns: the line whose record is invalid; nil if both are valid.
    mutating func add(_ other: consuming Line) -> SkippedLine? {
        switch (line.record.result, other.record.result) {
        case (_, .failure(let flaw)):
            wipe(&other.text)
            return SkippedLine(number: other.number, reason: flaw.reason)
        case (.failure(let flaw), .success):
            let skipped = SkippedLine(number: line.number, reason: flaw.reason)
            wipeText()
            line = other
            return skipped
        case (.success(let record), .success(let otherRecord)):
            if !record.isSameRecipient(as: otherRecord) {
                collidingNumber = collidingNumber ?? other.number
                wipe(&other.text)
            } else if otherRecord.hasNewerDeviceSet(than: record) {
                wipeText()
                line = other
            } else {
                wipe(&other.text)
            }
            return nil
        }
    }

    /// The record to use. Throws `RecipientDirectoryError` with `collision`, `privateKey`, `invalidRecord`.
    func record(_ path: String) throws(RecipientDirectoryError) -> KeyRecord {
        if let collidingNumber {
            throw RecipientDirectoryError(
                .collision,
                "\(path): lines \(line.number) and \(collidingNumber) have different records of key \(line.record.name); "
                    + "none is used", line: line.number)
        }
        let number = line.number
        return try line.record.result.mapError { RecipientDirectoryError(flaw: $0, in: path, line: number) }.get()
    }

    mutating func wipeText() { wipe(&line.text) }
}
