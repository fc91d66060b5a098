import PushCryptCore
import PushCryptFiles
import PushCryptPrimitives
import PushCryptSQLite

/// The records of a file of JSON lines, in the order of their names and in constant memory.
///
/// ```
/// stage   writes each line's name and offset into a temporary table, which contains no key bytes
/// visit   reads the lines again in the order of their names; `DuplicateRule` chooses between lines with one name
/// ```
final class RecordLines {
    /// The longest record that is read. It is many times the length of a key.
    static let limitInBytes = 65_536

    private let file: DirectoryFile
    private let progress: (DirectoryProgress) -> Void
    private var lineCount = 0
    private var stagedCount: Int64 = 0
    private var skippedCount = 0
    private var firstSkipped: DuplicateRule.SkippedLine?

    init(_ file: DirectoryFile, _ progress: @escaping (DirectoryProgress) -> Void) {
        self.file = file
        self.progress = progress
    }

    /// Reads the lines up to the current end of the file. Throws `RecipientDirectoryError` with `notADirectory` if no
    /// line has a name.
    func stage(in database: Database) throws {
        try database.script(
            """
            PRAGMA temp_store = FILE; PRAGMA temp.journal_mode = OFF; PRAGMA temp.cache_size = -8192;
            CREATE TEMP TABLE line (kid, device, number, offset, length)
            """)
        try database.run("BEGIN")
        let end = file.status.byteCount
        let lines = try LineReader(file.file, limitInBytes: Self.limitInBytes, upTo: end)
        var reportedOffset: Int64 = 0
        while let line = try lines.next() {
            try stage(line, in: database)
            guard lines.start - reportedOffset >= 1 << 20 else { continue }
            reportedOffset = lines.start
            progress(DirectoryProgress(phase: .reading, done: lines.start, total: end))
        }
        try database.run("COMMIT")
        guard stagedCount > 0 || skippedCount == 0 else {
            throw RecipientDirectoryError(
                .notADirectory, "\(file.path): none of its \(lineCount) lines is a whole record of a recipient")
        }
    }

    private func stage(_ line: consuming LineReader.Line, in database: Database) throws {
        var text = Array(line.bytes)
        defer {
            wipe(&line.raw)
            wipe(&text)
        }
        lineCount += 1
        let name: RecordName
        do {
            guard !line.isTooLong, text.count <= Self.limitInBytes else {
                throw RecordFlaw(reason: "longer than \(Self.limitInBytes) bytes")
            }
            name = try RecordName(try JSONText(text).root)
        } catch let error as JSONError {
            return skip(line.number, text.isEmpty ? "empty" : "not strict JSON: \(error)")
        } catch let error as RecordFlaw {
            return skip(line.number, error.reason)
        }
        try database.run(
            "INSERT INTO temp.line VALUES (?, ?, ?, ?, ?)", .text(name.kid.description), .text(name.deviceText),
            .integer(Int64(line.number)), .integer(line.offset), .integer(Int64(text.count)))
        stagedCount += 1
    }

    private func skip(_ number: Int, _ reason: String) {
        skippedCount += 1
        firstSkipped = firstSkipped ?? .init(number: number, reason: reason)
    }

    /// Calls `body` once for each recipient.
    ///
    /// - Parameter body: not called after the first error. An error about a record is thrown after all lines are read.
    /// - Throws: `RecipientDirectoryError` for the first skipped line; if none was skipped, for the first invalid record in
    ///   the order of names.
    func visit(in database: Database, _ body: (DuplicateRule.Line, KeyRecord) throws -> Void) throws {
        var failure: RecipientDirectoryError?
        func finish(_ rule: inout DuplicateRule?) throws {
            defer { rule?.wipeText() }
            guard let rule, failure == nil else { return }
            do {
                let record = try rule.record(file.path)
                if skippedCount == 0 { try body(rule.line, record) }
            } catch let error as RecipientDirectoryError {
                failure = error
            }
        }
        var rule: DuplicateRule?
        defer { rule?.wipeText() }
        var done: Int64 = 0
        let rows = try database.cursor(
            "SELECT kid, device, number, offset, length FROM temp.line ORDER BY kid, device, number")
        while let row = try rows.next() {
            let line = try line(row)
            if rule?.line.record.name == line.record.name {
                if let skipped = rule?.add(line) { skip(skipped.number, skipped.reason) }
            } else {
                try finish(&rule)
                rule = DuplicateRule(line)
            }
            done += 1
            if done & 0x3ff == 0 { progress(DirectoryProgress(phase: .visiting, done: done, total: stagedCount)) }
        }
        try finish(&rule)
        if let firstSkipped {
            throw RecipientDirectoryError(
                .invalidRecord,
                "\(file.path): line \(firstSkipped.number): \(firstSkipped.reason); "
                    + "\(skippedCount) of its lines can't be imported",
                line: firstSkipped.number)
        }
        if let failure { throw failure }
    }

    private func line(_ row: Statement) throws -> DuplicateRule.Line {
        let name = RecordName(kid: row.text(0) ?? "", device: row.text(1) ?? "")
        let number = Int(row.integer(2) ?? 0)
        var text = [UInt8](repeating: 0, count: Int(row.integer(4) ?? 0))
        let count = try file.read(into: &text, at: row.integer(3) ?? 0)
        guard count == text.count, let name, let record = StoredRecord(text, named: name) else {
            wipe(&text)
            throw RecipientDirectoryError(
                .changedMeanwhile, "\(file.path): line \(number) was changed during the import; start again",
                line: number)
        }
        return DuplicateRule.Line(number: number, text: text, record: record)
    }
}
