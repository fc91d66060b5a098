import PushCryptCore
import PushCryptPrimitives
import PushCryptSQLite

/// Fills the database of a new index.
///
/// ```
/// read    each line's name and place into a temporary table
/// sort    by name, so that the index is written from its beginning to its end, whatever its size; of several lines of
///         one name, decide
/// ```
final class IndexBuilder {
    private let file: DirectoryFile
    private let database: Database
    private let progress: (DirectoryProgress) -> Void
    private let hash = DefaultBackend.shared.sha256()
    private var report: IndexReport
    private let start: Int64
    private var indexedByteCount: Int64 = 0
    private var skipsTail = false
    private var stagedCount: Int64 = 0

    /// - Parameters:
    ///   - path: a new file, or a copy of the index of the file's first lines.
    ///   - basis: of that copy.
    init(
        _ file: DirectoryFile, into path: String, basis: IndexSource?, progress: @escaping (DirectoryProgress) -> Void
    ) throws {
        self.file = file
        self.progress = progress
        database = try Database(path: path, busyTimeout: .zero)
        try database.script(IndexSchema.building)
        report = basis?.report ?? IndexReport()
        start = basis?.indexedByteCount ?? 0
        guard let basis else {
            try database.script(IndexSchema.creation)
            return
        }
        if basis.skipsTail { report.forgetTail() }
        guard try FileDigest.whole(file, byteCount: start, also: hash) == basis.digest else { throw Changed() }
    }

    /// The file doesn't begin with what the index is of.
    struct Changed: Error {}

    func build() throws {
        try database.run("BEGIN")
        try database.run("CREATE TEMP TABLE stage (kid, device, line, offset, length)")
        try readLines()
        try sortLines()
        try database.run("DROP TABLE stage")
        // Of the version that was opened: whatever is written from then on makes the index outgrown.
        let source = IndexSource(
            file.status, indexedByteCount: indexedByteCount,
            probe: try FileDigest.probe(file, byteCount: indexedByteCount),
            digest: Base64URL.encode(hash.finalize()), skipsTail: skipsTail, report: report)
        try source.write(to: database)
        try database.run("COMMIT")
    }

    private func readLines() throws {
        let end = file.status.byteCount
        indexedByteCount = try file.endOfLastLine(before: end)
        let lines = LineScanner(file, from: start, to: indexedByteCount, after: report.lineCount) { [hash] in
            hash.update($0.bytes)
        }
        var reportedOffset = start
        while let line = try lines.next() {
            _ = try stage(line)
            if lines.offset - reportedOffset >= 1 << 20 {
                reportedOffset = lines.offset
                progress(DirectoryProgress(phase: .reading, done: lines.offset, total: end))
            }
        }
        // Somebody may be writing it.
        if let tail = try LineScanner(file, from: indexedByteCount, to: end, after: report.lineCount).next() {
            skipsTail = try !stage(tail)
        }
    }

    /// - Returns: whether the line has a name.
    private func stage(_ line: consuming LineScanner.Line) throws -> Bool {
        defer { wipe(&line.bytes) }
        report.lineCount += 1
        let name: RecordName
        do {
            guard !line.isTooLong else {
                throw RecordName.Missing(reason: "longer than \(LineScanner.limitInBytes) bytes")
            }
            name = try RecordName(try JSONText(line.bytes).root)
        } catch let error as JSONError {
            report.skip(line.number, line.bytes.isEmpty ? "empty" : "not strict JSON: \(error)")
            return false
        } catch let error as RecordName.Missing {
            report.skip(line.number, error.reason)
            return false
        }
        try database.run(
            "INSERT INTO stage VALUES (?, ?, ?, ?, ?)", .text(name.kid.description), .text(name.deviceText),
            .integer(Int64(line.number)), .integer(line.offset), .integer(Int64(line.byteCount)))
        stagedCount += 1
        return true
    }

    private func sortLines() throws {
        let rivalry = Rivalry(file, database)
        let rows = try database.cursor(
            "SELECT line, offset, length, NULL, kid, device FROM stage ORDER BY kid, device, line")
        var done: Int64 = 0
        while let row = try rows.next() {
            let place = RecipientIndex.place(row)
            let (kid, device) = (row.text(4) ?? "", row.text(5) ?? "")
            let count = try database.run(
                "INSERT INTO place VALUES (?, ?, ?, ?, ?, NULL) ON CONFLICT DO NOTHING", .text(kid), .text(device),
                .integer(Int64(place.line)), .integer(place.offset), .integer(Int64(place.byteCount)))
            if count == 1 {
                report.recipientCount += 1
            } else if let kid = KeyID(kid) {
                try rivalry.settle(RecordName(kid, try? DeviceID(device)), place, &report)
            }
            done += 1
            if done & 0xffff == 0 { progress(DirectoryProgress(phase: .sorting, done: done, total: stagedCount)) }
        }
    }
}
