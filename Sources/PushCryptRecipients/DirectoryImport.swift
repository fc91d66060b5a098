import PushCryptCore
import PushCryptFiles
import PushCryptPrimitives
import PushCryptSQLite

/// Puts all records of a file of JSON lines, or of another directory, into a directory, or none: it replaces nothing that is
/// different.
package struct DirectoryImport: Hashable, Sendable {
    package private(set) var addedCount = 0
    package private(set) var unchangedCount = 0
    private let source: String
    private let target: String

    /// - Parameters:
    ///   - source: JSON lines, a recipient's record on each, or a database.
    ///   - path: of a database, which is made if there is none.
    ///   - progress: is called once for each MiB that is read, and for each 1,024 records; on this thread.
    /// - Throws: `RecipientDirectoryError` for the first record that can't be taken; then nothing was.
    package init(
        from source: String, into path: String, progress: @escaping (DirectoryProgress) -> Void = { _ in }
    ) throws(RecipientDirectoryError) {
        self.source = source
        target = path
        do {
            let file = try DirectoryFile(source)
            let isDatabase = try file.isDatabase
            let records: Records =
                isDatabase
                ? .directory(try RecipientDirectory(path: source), progress) : .lines(RecordLines(file, progress))
            if try Self.isDatabase(path) {
                try add(records, to: path)
            } else {
                try make(records)
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

    private mutating func make(_ records: Records) throws {
        let new = try UnfinishedFile(of: target)
        try add(records, to: new.path)
        try new.publish()
    }

    private mutating func add(_ records: Records, to file: String) throws {
        let database = try Database(path: file, busyTimeout: RecipientTable.busyTimeout)
        try database.script("PRAGMA cache_size = -32768; PRAGMA trusted_schema = OFF")
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
        let count = try database.run(
            "INSERT INTO recipients (kid, device, record) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
            .text(name.kid.description), .text(name.deviceText), .utf8(text))
        guard count == 0 else {
            addedCount += 1
            return
        }
        var held =
            try database.first(
                "SELECT record FROM recipients WHERE kid = ? AND device = ?", .text(name.kid.description),
                .text(name.deviceText)
            ) { $0.bytes(0) ?? [] } ?? []
        defer { wipe(&held) }
        guard let other = try? StoredRecord(held, named: name)?.result.get(), other.isSameRecipient(as: record)
        else {
            let place = line.map { "line \($0) of \(source)" } ?? source
            throw RecipientDirectoryError(
                .collision, "\(target) has another record of key \(name) than \(place): nothing was imported",
                line: line)
        }
        unchangedCount += 1
    }
}

/// A file that gets its name when it is whole: until then it is `NAME.new`, for its owner alone.
///
/// The process that writes it holds a lock on `NAME.lock`, which only its owner can open. (A lock on
/// the folder could be held by every user who can read the folder.) What a killed process left of both is taken over.
private final class UnfinishedFile {
    let path: String
    private let name: String
    private let lockPath: String
    private let lock: Int32

    /// - Throws: `RecipientDirectoryError` with `busy`, `cannotCreate`, `noPermission`, or about the folder.
    init(of name: String) throws(RecipientDirectoryError) {
        self.name = name
        path = name + ".new"
        lockPath = name + ".lock"
        try DirectoryFile.requireOwn(folder: DirectoryFile.split(name).folder)
        lock = try Self.lock(lockPath)
        do {
            try create()
        } catch {
            unsafe unlink(lockPath)
            close(lock)
            throw error
        }
    }

    deinit {
        unsafe unlink(path)
        unsafe unlink(lockPath)
        close(lock)
    }

    private func create() throws(RecipientDirectoryError) {
        for suffix in ["", "-journal"] { unsafe unlink(path + suffix) }
        try requireFree()
        let file = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw DirectoryFile.failure("create", path) }
        close(file)
    }

    private func requireFree() throws(RecipientDirectoryError) {
        var found = stat()
        guard unsafe lstat(name, &found) != 0 else {
            throw RecipientDirectoryError(.cannotCreate, "\(name) exists by now; begin again")
        }
    }

    func publish() throws(RecipientDirectoryError) {
        try requireFree()
        guard unsafe rename(path, name) == 0 else { throw DirectoryFile.failure("create", name) }
        let folder = unsafe open(DirectoryFile.split(name).folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { return }
        fsync(folder)
        close(folder)
    }

    private static func lock(_ path: String) throws(RecipientDirectoryError) -> Int32 {
        let end = ContinuousClock.now + RecipientTable.busyTimeout
        while true {
            let file = unsafe open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
            guard file >= 0 else { throw DirectoryFile.failure("create", path) }
            if flock(file, LOCK_EX | LOCK_NB) == 0, isNamed(path, file) { return file }
            close(file)
            guard ContinuousClock.now < end else {
                throw RecipientDirectoryError(.busy, "another process is making \(path.dropLast(5))")
            }
            usleep(2_000)
        }
    }

    /// The previous holder of the lock removes the file: then this is a lock on a file without a name.
    private static func isNamed(_ path: String, _ file: Int32) -> Bool {
        var opened = stat()
        var named = stat()
        return unsafe fstat(file, &opened) == 0 && lstat(path, &named) == 0
            && FileStatus(opened).identity == FileStatus(named).identity
    }
}
