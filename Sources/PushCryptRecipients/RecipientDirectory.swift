package import PushCryptCore
import PushCryptPrimitives
import PushCryptSQLite

/// A SQLite database with the keys of many recipients, by key id.
///
/// ```
/// CREATE TABLE recipients (kid TEXT NOT NULL, device TEXT NOT NULL DEFAULT '', record TEXT NOT NULL,
///     PRIMARY KEY (kid, device)) WITHOUT ROWID
/// ```
/// A record is a JWK of suite 1, 2 or 3 with its psk, if any, a device key derived from a shared master, or a shared key.
/// Records contain secrets, so a file that other users can read is refused. Other processes may change the database while
/// it is used; each lookup sees the committed changes.
package final class RecipientDirectory: Sendable {
    package let path: String
    private let file: DirectoryFile

    private static let attempts = 3

    /// - Throws: `RecipientDirectoryError` with any code but `collision`, `privateKey`, `invalidRecord`, `cannotCreate`.
    package init(path: String) throws(RecipientDirectoryError) {
        self.path = path
        do { file = try Self.file(path) } catch { throw RecipientDirectoryError(error, path) }
    }

    /// Opens the file, and opens it again if another file replaced it meanwhile.
    private static func file(_ path: String) throws -> DirectoryFile {
        for _ in 0..<attempts {
            let file = try DirectoryFile(path)
            guard try file.isDatabase else {
                throw RecipientDirectoryError(.notADirectory, "\(path) is not a SQLite database")
            }
            _ = try RecipientReader(path, sameAs: file)
            if !file.hasMoved { return file }
        }
        throw replaced(path)
    }

    /// Makes a reader for one thread. Readers don't wait for each other. Throws `RecipientDirectoryError` with
    /// `changedMeanwhile` if another file replaced the directory.
    package func makeReader() throws(RecipientDirectoryError) -> RecipientReader {
        do { return try RecipientReader(path, sameAs: file) } catch { throw RecipientDirectoryError(error, path) }
    }

    static func replaced(_ path: String) -> RecipientDirectoryError {
        RecipientDirectoryError(.changedMeanwhile, "\(path) was replaced by another file; start again")
    }
}

/// Looks up recipients in a directory, on one thread.
package final class RecipientReader {
    private let path: String
    private let database: Database

    init(_ path: String, sameAs file: DirectoryFile) throws {
        self.path = path
        try file.requireOwnFolder()
        // SQLite opens the file for writing too, so that it can roll back the transaction of a killed writer.
        database = try Database(path: path, busyTimeout: RecipientTable.busyTimeout)
        guard !file.hasMoved else { throw RecipientDirectory.replaced(path) }
        database.limitValues(toBytes: RecipientTable.rowLimitInBytes)
        try database.script(
            "PRAGMA query_only = ON; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0")
        try RecipientTable.require(in: database, path)
    }

    /// The recipient with that id; nil if the directory has none.
    ///
    /// For a device, returns the device's own shared key if the directory has it, otherwise the key derived from the
    /// master. A public key belongs to one installation already, so the device doesn't change it. Throws
    /// `RecipientDirectoryError` with `collision`, `privateKey`, `invalidRecord`, `busy`, `damaged`, `inputOutput`.
    package func recipient(kid: KeyID, device: DeviceID? = nil) throws(RecipientDirectoryError) -> Recipient? {
        let own = try device.flatMap { device throws(RecipientDirectoryError) in try record(RecordName(kid, device)) }
        let found: KeyRecord? = if let own { own } else { try record(RecordName(kid, nil)) }
        guard let found else { return nil }
        do throws(KeyError) {
            return try found.recipient(own == nil ? device : nil)
        } catch {
            throw RecipientDirectoryError(.invalidRecord, "\(path): \(error.reason)")
        }
    }

    private func record(_ name: RecordName) throws(RecipientDirectoryError) -> KeyRecord? {
        var texts = try texts(of: name)
        defer { for index in texts.indices { wipe(&texts[index]) } }
        // A table without the primary key (kid, device) can have several.
        guard texts.count < 2 else {
            throw RecipientDirectoryError(.collision, "\(path): several records of key \(name); none is used")
        }
        return try texts.first.map { text throws(RecipientDirectoryError) in try record(name, text) }
    }

    /// The first two records with a name. The caller wipes them.
    private func texts(of name: RecordName) throws(RecipientDirectoryError) -> [[UInt8]] {
        do throws(SQLiteError) {
            return try database.rows(
                "SELECT record FROM recipients WHERE kid = ? AND device = ? LIMIT 2",
                [.text(name.kid.description), .text(name.deviceText)]
            ) { $0.bytes(0) ?? [] }
        } catch {
            guard error.isTooLong else { throw RecipientDirectoryError(error, path) }
            throw RecipientDirectoryError(
                .invalidRecord,
                "\(path): the record of key \(name) has more than \(RecipientTable.rowLimitInBytes) bytes")
        }
    }

    private func record(_ name: RecordName, _ text: [UInt8]) throws(RecipientDirectoryError) -> KeyRecord {
        guard let stored = StoredRecord(text, named: name) else {
            throw RecipientDirectoryError(
                .invalidRecord, "\(path): the record of key \(name) isn't JSON with that kid and device")
        }
        return try stored.result.mapError { RecipientDirectoryError(flaw: $0, in: path) }.get()
    }

    /// Reads the records in the order of their names, at most two of each name. Reports the progress for each 1,024 records.
    func visitAll(_ progress: (DirectoryProgress) -> Void, _ body: (Row) throws -> Void) throws {
        // A lookup finds only texts. The records are read one by one, so that a very long one is only its own fault.
        let names = try database.cursor(
            """
            SELECT kid, device, typeof(kid) = 'text' AND typeof(device) = 'text' FROM recipients ORDER BY kid, device
            """)
        var done: Int64 = 0
        var last: RecordName?
        func visit(_ row: Row) throws {
            try body(row)
            done += 1
            if done & 0x3ff == 0 { progress(DirectoryProgress(phase: .visiting, done: done, total: nil)) }
        }
        while let row = try names.next() {
            let name = row.integer(2) == 1 ? RecordName(kid: row.text(0) ?? "", device: row.text(1) ?? "") : nil
            guard let name else {
                let error = RecipientDirectoryError(
                    .invalidRecord, "\(path): a row's kid or device is invalid, or not stored as text")
                try visit(Row(text: [], outcome: .failure(error)))
                continue
            }
            guard name != last else { continue }
            last = name
            var rows = try rows(of: name)
            defer { for index in rows.indices { wipe(&rows[index].text) } }
            for row in rows { try visit(row) }
        }
    }

    /// The caller wipes the texts.
    private func rows(of name: RecordName) throws(RecipientDirectoryError) -> [Row] {
        do throws(RecipientDirectoryError) {
            return try texts(of: name).map { text in
                let outcome = Result { () throws(RecipientDirectoryError) in try record(name, text) }
                return Row(text: text, outcome: outcome.map { (name: name, record: $0) })
            }
        } catch {
            guard error.code == .invalidRecord else { throw error }
            return [Row(text: [], outcome: .failure(error))]
        }
    }

    struct Row {
        var text: [UInt8]
        let outcome: Result<(name: RecordName, record: KeyRecord), RecipientDirectoryError>
    }
}

/// The table of a directory.
enum RecipientTable {
    static let creation: StaticString = """
        CREATE TABLE IF NOT EXISTS recipients (kid TEXT NOT NULL, device TEXT NOT NULL DEFAULT '', record TEXT NOT NULL,
            PRIMARY KEY (kid, device)) WITHOUT ROWID
        """

    /// The longest row that is read. It is many times the length of a key.
    static let rowLimitInBytes = RecordLines.limitInBytes + 1_024

    /// The longest time that one statement waits for another process's lock.
    static let busyTimeout: Duration = .seconds(60)

    /// Requires that lookups are index searches. Without the primary key, each lookup would read the whole table.
    static func require(in database: Database, _ path: String) throws {
        let steps: [String]
        do throws(SQLiteError) {
            steps = try database.rows(
                "EXPLAIN QUERY PLAN SELECT record FROM recipients WHERE kid = ? AND device = ? LIMIT 2"
            ) { $0.text(3) ?? "" }
        } catch {
            // SQLITE_ERROR: the table or a column is missing.
            guard error.extendedCode == 1 else { throw error }
            throw RecipientDirectoryError(
                .notADirectory,
                "\(path) is a database without a table recipients (kid, device, record) whose key is (kid, device)")
        }
        guard !steps.isEmpty, steps.allSatisfy({ $0.hasPrefix("SEARCH") }) else {
            throw RecipientDirectoryError(
                .notADirectory,
                "\(path): the table recipients lacks PRIMARY KEY (kid, device); each lookup would read the whole table")
        }
    }
}
