import PushCryptCore
import PushCryptPrimitives
import PushCryptSQLite

/// The table of a database, which its owner may change meanwhile: each lookup sees what was committed before.
final class RecipientTable: RecordSource {
    static let creation: StaticString = """
        CREATE TABLE IF NOT EXISTS recipients (kid TEXT NOT NULL, device TEXT NOT NULL DEFAULT '', record TEXT NOT NULL,
            PRIMARY KEY (kid, device)) WITHOUT ROWID
        """

    static let busyTimeout: Duration = .seconds(60)

    let path: String
    private let database: Database

    init(_ path: String, sameAs first: DirectoryFile) throws {
        self.path = path
        try first.requireOwnFolder()
        // Not for reading alone: what a writer left that was killed is rolled back by the next who looks.
        database = try Database(path: path, busyTimeout: Self.busyTimeout)
        guard !first.hasMoved else { throw RecipientDirectory.replaced(path) }
        try database.script(
            "PRAGMA query_only = ON; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0")
        try Self.requireTable(database, path)
    }

    /// Throws unless a lookup is a search: in a table without the key every single one would read all of it.
    static func requireTable(_ database: Database, _ path: String) throws {
        let steps: [String]
        do throws(SQLiteError) {
            steps = try database.rows(
                "EXPLAIN QUERY PLAN SELECT record FROM recipients WHERE kid = ? AND device = ? LIMIT 2"
            ) { $0.text(3) ?? "" }
        } catch {
            // SQLITE_ERROR: it doesn't know the table or a column.
            guard error.extendedCode == 1 else { throw error }
            throw RecipientDirectoryError(
                .notADirectory,
                "\(path) is a database without a table recipients (kid, device, record) whose key is (kid, device)")
        }
        guard !steps.isEmpty, steps.allSatisfy({ $0.hasPrefix("SEARCH") }) else {
            throw RecipientDirectoryError(
                .notADirectory,
                "\(path): the table recipients lacks PRIMARY KEY (kid, device): each lookup would read all of it")
        }
    }

    func record(_ name: RecordName) throws(RecipientDirectoryError) -> FoundRecord? {
        var texts: [[UInt8]]
        do throws(SQLiteError) {
            texts = try database.rows(
                "SELECT record FROM recipients WHERE kid = ? AND device = ? LIMIT 2",
                [.text(name.kid.description), .text(name.deviceText)]
            ) { $0.bytes(0) ?? [] }
        } catch {
            throw RecipientDirectoryError(error, path)
        }
        guard let text = texts.popLast() else { return nil }
        // A table with another key than ours can have several.
        guard texts.isEmpty else {
            throw RecipientDirectoryError(.collision, "\(path): several records of key \(name): no choice is made")
        }
        return try record(name, text)
    }

    func visitAll(_ body: (SourceEntry) throws -> Void) throws {
        let rows = try database.cursor("SELECT kid, device, record FROM recipients ORDER BY kid, device")
        while let row = try rows.next() {
            let (kid, device, text) = (row.text(0) ?? "", row.text(1) ?? "", row.bytes(2) ?? [])
            let outcome = Result { () throws(RecipientDirectoryError) in
                guard let name = try? RecordName(kid: kid, device: device) else {
                    throw RecipientDirectoryError(.invalidRecord, "\(path): a row's kid or device isn't one")
                }
                return try record(name, text)
            }
            try body(SourceEntry(kid: kid, device: device, text: text, outcome: outcome))
        }
    }

    private func record(
        _ name: RecordName, _ text: consuming [UInt8]
    ) throws(RecipientDirectoryError) -> FoundRecord {
        do throws(StoredRecord.Failure) {
            return FoundRecord(record: try StoredRecord.read(text, named: name), line: nil)
        } catch {
            switch error {
            case .foreign:
                throw RecipientDirectoryError(
                    .invalidRecord, "\(path): the record of key \(name) isn't JSON with that kid and device")
            case .invalid(let error): throw RecipientDirectoryError(error, isPrivate: false, path, line: nil)
            }
        }
    }
}
