import PushCryptFiles
import PushCryptPrimitives
import PushCryptSQLite

/// Puts all records of a directory into a database, or none: it replaces nothing that is different.
package struct DirectoryImport: Hashable, Sendable {
    package private(set) var addedCount = 0
    package private(set) var unchangedCount = 0

    /// - Parameters:
    ///   - path: of a database, which is made where there is none.
    ///   - progress: is told how far it is, once for each 1,024 records; on this thread.
    /// - Throws: `RecipientDirectoryError` for the first record that can't be taken; then nothing was.
    package init(
        _ directory: RecipientDirectory, into path: String, progress: (DirectoryProgress) -> Void = { _ in }
    ) throws(RecipientDirectoryError) {
        do {
            try Self.requireClean(directory)
            if let file = try Self.existing(path) {
                try add(directory, to: file.path, progress)
            } else {
                try make(directory, path, progress)
            }
        } catch {
            throw RecipientDirectoryError(error, path)
        }
    }

    private static func requireClean(_ directory: RecipientDirectory) throws {
        guard let index = directory.index, let first = index.skippedLines.first else { return }
        throw RecipientDirectoryError(
            .invalidRecord,
            "\(directory.path): line \(first.number): \(first.reason); of its lines \(index.skippedCount) can't be taken",
            line: first.number)
    }

    private static func existing(_ path: String) throws -> DirectoryFile? {
        let file: DirectoryFile
        do throws(RecipientDirectoryError) {
            file = try DirectoryFile(path)
        } catch {
            guard error.code == .notFound else { throw error }
            return nil
        }
        guard try file.isDatabase else {
            throw RecipientDirectoryError(.notADirectory, "\(path) exists and is not a SQLite database")
        }
        try file.requireOwnFolder()
        return file
    }

    /// A new one gets its name when it is whole.
    private mutating func make(
        _ directory: RecipientDirectory, _ path: String, _ progress: (DirectoryProgress) -> Void
    ) throws {
        let (parent, name) = IndexFile.split(path)
        try DirectoryFile.requireOwn(folder: parent)
        let new = name + ".new"
        let folder = try SharedFolder(parent)
        var counts = self
        let made = try folder.withLock(.exclusive, timeout: RecipientTable.busyTimeout) { () throws(SQLiteError) in
            Result {
                for suffix in ["", "-journal"] { folder.remove(new + suffix) }
                try folder.create(new)
                defer { folder.remove(new) }
                try counts.add(directory, to: folder.path(new), progress)
                guard !folder.has(name) else {
                    throw RecipientDirectoryError(.cannotCreate, "\(path) exists by now; begin again")
                }
                try folder.rename(new, to: name)
            }
        }
        try made.get()
        self = counts
    }

    private mutating func add(
        _ directory: RecipientDirectory, to path: String, _ progress: (DirectoryProgress) -> Void
    ) throws {
        let database = try Database(path: path, busyTimeout: RecipientTable.busyTimeout)
        try database.script("PRAGMA cache_size = -32768; PRAGMA trusted_schema = OFF")
        try database.run("BEGIN IMMEDIATE")
        do {
            try database.run(RecipientTable.creation)
            try RecipientTable.requireTable(database, path)
            try directory.visitAll(progress) { entry in
                var entry = entry
                defer { wipe(&entry.text) }
                try add(entry, of: directory.path, to: database, path)
            }
            try database.run("COMMIT")
        } catch {
            _ = try? database.run("ROLLBACK")
            throw error
        }
    }

    private mutating func add(
        _ entry: SourceEntry, of source: String, to database: Database, _ path: String
    ) throws {
        let found = try entry.outcome.get()
        _ = try found.recipient(source)
        let count = try database.run(
            "INSERT INTO recipients (kid, device, record) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
            .text(entry.kid), .text(entry.device), .utf8(entry.text))
        guard count == 0 else {
            addedCount += 1
            return
        }
        let name = try RecordName(kid: entry.kid, device: entry.device)
        let text = try database.first(
            "SELECT record FROM recipients WHERE kid = ? AND device = ?", .text(entry.kid), .text(entry.device)
        ) { $0.bytes(0) ?? [] }
        guard let text, let held = try? StoredRecord.read(text, named: name), held.isSameRecipient(as: found.record)
        else {
            let place = found.line.map { "line \($0) of \(source)" } ?? source
            throw RecipientDirectoryError(
                .collision, "\(path) has another record of key \(name) than \(place): nothing was imported",
                line: found.line)
        }
        unchangedCount += 1
    }
}
