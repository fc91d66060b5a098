import PushCryptCore
import PushCryptPrimitives

/// Decides between the lines of one name in a file of JSON lines.
///
/// ```
/// a key that isn't what its kid says, and one that is    the latter counts
/// the same recipient again                               a duplicate: the first counts
/// different recipients                                   a collision: none counts
/// ```
/// So nobody who can add a line takes another recipient out of the directory with a key that isn't the kid's.
struct DuplicateRule {
    /// A line with the name.
    struct Line {
        /// From 1.
        let number: Int
        var text: [UInt8]
        let record: StoredRecord
    }

    /// A line that is left out.
    struct SkippedLine {
        let number: Int
        let reason: String
    }

    /// The line that counts, if there is no collision.
    private(set) var line: Line
    /// The first line with another recipient of the same name.
    private var rival: Int?

    init(_ first: Line) {
        line = first
    }

    /// - Parameter newcomer: a later line of the same name. It is wiped unless it takes the place of ``line``.
    /// - Returns: the line that is left out because its record can't be used; nil if both can.
    mutating func add(_ newcomer: consuming Line) -> SkippedLine? {
        switch (line.record.result, newcomer.record.result) {
        case (_, .failure(let flaw)):
            wipe(&newcomer.text)
            return SkippedLine(number: newcomer.number, reason: flaw.reason)
        case (.failure(let flaw), .success):
            let skipped = SkippedLine(number: line.number, reason: flaw.reason)
            wipeText()
            line = newcomer
            return skipped
        case (.success(let held), .success(let other)):
            if !held.isSameRecipient(as: other) { rival = rival ?? newcomer.number }
            wipe(&newcomer.text)
            return nil
        }
    }

    /// The record that counts.
    ///
    /// - Throws: `RecipientDirectoryError` with `collision`, `privateKey`, `invalidRecord`.
    func record(_ path: String) throws(RecipientDirectoryError) -> KeyRecord {
        if let rival {
            throw RecipientDirectoryError(
                .collision,
                "\(path): lines \(line.number) and \(rival) have different records of key \(line.record.name): no choice "
                    + "is made", line: line.number)
        }
        do throws(StoredRecord.Flaw) {
            return try line.record.result.get()
        } catch {
            throw RecipientDirectoryError(flaw: error, in: path, line: line.number)
        }
    }

    mutating func wipeText() { wipe(&line.text) }
}
