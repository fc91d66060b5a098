import PushCryptCore
import PushCryptFiles
import PushCryptPrimitives
import PushCryptSQLite

/// Copies the records of a file of JSON lines or of another directory into a directory: all of them, or none after an
/// error. It never replaces a different record.
package struct DirectoryImport: Hashable, Sendable {
    package private(set) var addedCount = 0
    package private(set) var unchangedCount = 0
    private let source: String
    private let target: String
    private let requiresPSK: Bool

    /// - Parameters:
    ///   - source: the path of a file with one record per line, or of a database.
    ///   - path: the path of a database. The import makes the database if there is none.
    ///   - requiresPSK: whether to refuse records without a psk that aren't shared keys.
    ///   - progress: called on this thread for each MiB that is read and for each 1,024 records.
    /// - Throws: `RecipientDirectoryError` for the first record that can't be imported. Then nothing was imported.
    package init(
        from source: String, into path: String, requiringPSK requiresPSK: Bool = false,
        progress: @escaping (DirectoryProgress) -> Void = { _ in }
    ) throws(RecipientDirectoryError) {
        self.source = source
        target = path
        self.requiresPSK = requiresPSK
        do {
            let file = try DirectoryFile(source)
            let records: Records =
                if try file.isDatabase {
                    .directory(try RecipientDirectory(path: source), progress)
                } else {
                    .lines(RecordLines(file, progress))
                }
            if try Self.isDatabase(path) {
                try add(records, to: path)
            } else {
                let new = try UnfinishedFile(of: path)
                try add(records, to: new.path)
                try new.publish()
            }
        } catch let error as SQLiteError {
            throw RecipientDirectoryError(error, path)
        } catch {
            throw RecipientDirectoryError(error, source)
        }
    }

    private enum Records {
        case lines(RecordLines)
        case directory(RecipientDirectory, (DirectoryProgress) -> Void)
    }

    /// - Returns: false if there is no such file.
    /// - Throws: `RecipientDirectoryError` with `notADirectory` for a file that is not a database.
    private static func isDatabase(_ path: String) throws -> Bool {
        let file: DirectoryFile
        do throws(RecipientDirectoryError) {
            file = try DirectoryFile(path)
        } catch {
            guard error.code == .notFound else { throw error }
            return false
        }
        guard try file.isDatabase else {
            throw RecipientDirectoryError(.notADirectory, "\(path) exists and is not a SQLite database")
        }
        try file.requireOwnFolder()
        return true
    }

    private mutating func add(_ records: Records, to file: String) throws {
        let database = try Database(path: file, busyTimeout: RecipientTable.busyTimeout)
        try database.script("PRAGMA cache_size = -32768; PRAGMA trusted_schema = OFF")
        database.limitValues(toBytes: RecipientTable.rowLimitInBytes)
        if case .lines(let lines) = records { try lines.stage(in: database) }
        try database.run("BEGIN IMMEDIATE")
        do {
            try database.run(RecipientTable.creation)
            try RecipientTable.require(in: database, target)
            switch records {
            case .lines(let lines):
                try lines.visit(in: database) { line, record in
                    try add(record, line.record.name, line.text, line: line.number, to: database)
                }
            case .directory(let directory, let progress):
                try directory.makeReader().visitAll(progress) { row in
                    let (name, record) = try row.outcome.get()
                    try add(record, name, row.text, line: nil, to: database)
                }
            }
            try database.run("COMMIT")
        } catch {
            _ = try? database.run("ROLLBACK")
            throw error
        }
    }

    private mutating func add(
        _ record: KeyRecord, _ name: RecordName, _ text: [UInt8], line: Int?, to database: Database
    ) throws {
        if requiresPSK {
            do throws(KeyError) { try record.recipient().requirePSK() } catch {
                let place = line.map { "\(source): line \($0)" } ?? source
                throw RecipientDirectoryError(.pskMissing, "\(place): \(error.reason)", line: line)
            }
        }
        do { try record.deviceSet?.checkKeys() } catch {
            throw RecipientDirectoryError(
                .invalidRecord, "\(line.map { "line \($0) of " } ?? "")\(source): \(error)", line: line)
        }
        let count = try database.run(
            "INSERT INTO recipients (kid, device, record) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
            .text(name.kid.description), .text(name.deviceText), .utf8(text))
        guard count == 0 else {
            addedCount += 1
            return
        }
        // One that is longer than any key is another record.
        var present =
            (try? database.first(
                "SELECT record FROM recipients WHERE kid = ? AND device = ?", .text(name.kid.description),
                .text(name.deviceText)
            ) { $0.bytes(0) ?? [] }) ?? []
        defer { wipe(&present) }
        guard let other = try? StoredRecord(present, named: name)?.result.get(), other.isSameRecipient(as: record)
        else {
            let place = line.map { "line \($0) of \(source)" } ?? source
            throw RecipientDirectoryError(
                .collision, "\(target) has another record of key \(name) than \(place); nothing was imported",
                line: line)
        }
        guard record.hasNewerDeviceSet(than: other) else {
            unchangedCount += 1
            return
        }
        try database.run(
            "UPDATE recipients SET record = ? WHERE kid = ? AND device = ?", .utf8(text), .text(name.kid.description),
            .text(name.deviceText))
        addedCount += 1
    }
}

/// A private file `NAME.new` that is renamed to `NAME` when it is complete.
///
/// The process that writes it holds a lock on `NAME.lock`, which only its owner can open: every user who can read the
/// folder could hold a lock on the folder. The next import removes what a killed process left of both files.
private final class UnfinishedFile {
    private let folder: Folder
    private let name: String
    private let temporaryName: String
    private let lockName: String
    private let lock: OpenFile

    var path: String { folder.path(of: temporaryName) }

    /// - Throws: `FileError` with `busy`, `alreadyExists`, `cannotCreate`, `noPermission`; `RecipientDirectoryError` with
    ///   `foreignOwner` or `looseMode` for the folder.
    init(of path: String) throws {
        name = FileSystem.name(of: path)
        temporaryName = name + ".new"
        lockName = name + ".lock"
        let parent = FileSystem.parent(of: path)
        guard parent.isEmpty || FileSystem.exists(parent) else {
            throw FileError(.cannotCreate, path, "can't create \(path): there is no folder \(parent)")
        }
        try DirectoryFile.requireOwnFolder(of: path)
        folder = try Folder(above: path)
        lock = try folder.lockedFile(lockName, until: .now + RecipientTable.busyTimeout)
        // All properties are initialised: deinit also runs if one of these calls throws.
        for suffix in ["", "-journal"] { try folder.remove(temporaryName + suffix) }
        guard !folder.has(name) else { throw FileError(.alreadyExists, path, "\(path) exists already; start again") }
        _ = try folder.makeFile(temporaryName)
    }

    deinit {
        // The lock is released last.
        try? folder.remove(temporaryName)
        try? folder.remove(lockName)
    }

    func publish() throws(FileError) { try folder.publish(temporaryName, as: name) }
}
