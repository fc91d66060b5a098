import PushCryptSQLite

/// Of which file, and of how much of it, an index is.
struct IndexSource {
    let inode: Int64
    /// The file's size and time when it was indexed.
    let byteCount: Int64
    let modifiedAt: Int64
    /// Bytes up to the end of the last line that has its newline.
    let indexedByteCount: Int64
    /// Of those bytes: of some of them, and of all.
    let probe: String
    let digest: String
    /// Whether something lies behind them that was counted as a skipped line, as a line is that somebody is writing.
    let skipsTail: Bool
    var report: IndexReport

    private static let counts: ClosedRange<Int64> = 0...1 << 53

    func isOf(_ status: FileStatus) -> Bool { inode == Int64(truncatingIfNeeded: status.inode) }

    /// Not where its last line had no newline: that line may have become another.
    var canGrow: Bool { byteCount == indexedByteCount || skipsTail }

    func write(to database: Database) throws(SQLiteError) {
        try database.run("DELETE FROM source")
        try database.run(
            "INSERT INTO source VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", .integer(inode), .integer(byteCount),
            .integer(modifiedAt), .integer(indexedByteCount), .text(probe), .text(digest),
            .integer(Int64(report.lineCount)), .integer(Int64(report.recipientCount)),
            .integer(Int64(report.duplicateCount)), .integer(Int64(report.collisionCount)),
            .integer(Int64(report.skippedCount)), .integer(skipsTail ? 1 : 0))
        try database.run("DELETE FROM skipped")
        for line in report.skippedLines {
            try database.run("INSERT INTO skipped VALUES (?, ?)", .integer(Int64(line.number)), .text(line.reason))
        }
    }

    init(_ database: Database) throws(SQLiteError) {
        let columns: StaticString = """
            SELECT inode, size, modified, indexed, lines, recipients, duplicates, collisions, skipped, tail, probe, digest
            FROM source
            """
        let row = try database.first(columns) { row in
            ((0..<10).map { row.integer($0) ?? 0 }, row.text(10) ?? "", row.text(11) ?? "")
        }
        guard let (numbers, probe, digest) = row else { throw SQLiteError(.damaged, "the index isn't finished") }
        // What is computed with them stays far from the end of the integers.
        guard numbers[3] <= numbers[1], (numbers[1...1] + numbers[3...8]).allSatisfy(Self.counts.contains) else {
            throw SQLiteError(.damaged, "the index has a count that no file has")
        }
        (inode, byteCount, modifiedAt, indexedByteCount) = (numbers[0], numbers[1], numbers[2], numbers[3])
        (self.probe, self.digest, skipsTail) = (probe, digest, numbers[9] != 0)
        report = IndexReport()
        (report.lineCount, report.recipientCount) = (Int(numbers[4]), Int(numbers[5]))
        (report.duplicateCount, report.collisionCount) = (Int(numbers[6]), Int(numbers[7]))
        report.skippedCount = Int(numbers[8])
        report.skippedLines = try database.rows("SELECT line, reason FROM skipped ORDER BY line") { row in
            .init(number: Int(row.integer(0) ?? 0), reason: row.text(1) ?? "")
        }
    }

    init(
        _ status: FileStatus, indexedByteCount: Int64, probe: String, digest: String, skipsTail: Bool,
        report: IndexReport
    ) {
        inode = Int64(truncatingIfNeeded: status.inode)
        (byteCount, modifiedAt) = (status.byteCount, status.modifiedAt)
        self.indexedByteCount = indexedByteCount
        (self.probe, self.digest, self.skipsTail) = (probe, digest, skipsTail)
        self.report = report
    }
}
