import PushCryptFiles
import PushCryptPrimitives

#if canImport(SQLite3)
import SQLite3
#else
import CPushCryptSQLite
#endif

/// A connection to a database file, with the system's SQLite.
///
/// GRDB isn't used: its object code of 2.7 MB is more than twice that of this package in an extension, which needs five
/// tables and a few dozen statements.
@safe package final class Database: @unchecked Sendable {
    // Unchecked because of the connection and its statements: the owner protects the database by a lock, so only one thread
    // uses it at a time.
    private let connection: OpaquePointer
    private var statements: [String: Statement] = [:]
    /// Upper limits of numbers of rows that the owner has counted, by a number of its choice. The owner adds the rows that it
    /// inserts. They are forgotten when a transaction fails.
    package var rowBounds: [Int64: Int64] = [:]
    private var rowBoundsVersion: Int64?
    private var waitEnd = ContinuousClock.now

    /// Opens a file, which SQLite reads at the first use. One statement waits `busyTimeout` for other connections.
    package convenience init(path: String, creates: Bool = false, busyTimeout: Duration) throws(SQLiteError) {
        let flags = SQLITE_OPEN_READWRITE | (creates ? SQLITE_OPEN_CREATE : 0) | Self.protection
        try self.init(name: path, flags: flags, busyTimeout: busyTimeout)
    }

    /// Creates an empty database in memory.
    package convenience init() throws(SQLiteError) {
        try self.init(name: ":memory:", flags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, busyTimeout: .zero)
    }

    private init(name: String, flags: Int32, busyTimeout: Duration) throws(SQLiteError) {
        var opened: OpaquePointer?
        let result = unsafe sqlite3_open_v2(name, &opened, flags | SQLITE_OPEN_NOMUTEX, nil)
        guard let handle = unsafe opened else {
            throw SQLiteError(extendedCode: result, systemError: 0, reason: "SQLite has no memory")
        }
        guard result == SQLITE_OK else {
            defer { unsafe sqlite3_close_v2(handle) }
            throw unsafe Self.error(handle)
        }
        let milliseconds = busyTimeout.count(of: .milliseconds(1), as: Int32.self)
        unsafe sqlite3_busy_timeout(handle, min(max(milliseconds, 0), 60_000))
        unsafe connection = handle
    }

    deinit {
        statements = [:]
        unsafe sqlite3_close_v2(connection)
    }

    // The file is readable and writable after the first unlock. SQLite uses the same protection class for the journal.
    #if os(iOS) || os(watchOS) || os(tvOS) || os(visionOS)
    private static let protection = SQLITE_OPEN_FILEPROTECTION_COMPLETEUNTILFIRSTUSERAUTHENTICATION
    #else
    private static let protection: Int32 = 0
    #endif

    /// Limits each text, blob and row that is read or written. SQLite refuses a longer one before it reads all of it.
    package func limitValues(toBytes limit: Int) {
        _ = unsafe sqlite3_limit(connection, SQLITE_LIMIT_LENGTH, Int32(clamping: limit))
    }

    /// Limits the waits of all further statements for other connections to the time until `end`. It replaces `busyTimeout`,
    /// which limits each statement.
    package func wait(until end: ContinuousClock.Instant) {
        waitEnd = end
        // SQLite calls the handler on the thread of the waiting statement, so the database exists.
        unsafe sqlite3_busy_handler(
            connection,
            { context, _ in
                guard let context = unsafe context else { return 0 }
                return unsafe Unmanaged<Database>.fromOpaque(context).takeUnretainedValue().keepsWaiting() ? 1 : 0
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    private func keepsWaiting() -> Bool {
        guard ContinuousClock.now < waitEnd else { return false }
        FileLock.pause()
        return true
    }

    /// Whether the file was replaced, renamed or removed since it was opened.
    package var hasMoved: Bool {
        var moved: Int32 = 0
        let result = unsafe sqlite3_file_control(connection, "main", SQLITE_FCNTL_HAS_MOVED, &moved)
        return result != SQLITE_OK || moved != 0
    }

    package func script(_ sql: StaticString) throws(SQLiteError) {
        guard unsafe sqlite3_exec(connection, "\(sql)", nil, nil, nil) == SQLITE_OK else { throw error }
    }

    /// Runs a statement. Its text must be a literal, so that values can only be parameters.
    ///
    /// - Returns: the number of changed rows.
    @discardableResult
    package func run(_ sql: StaticString, _ values: SQLiteValue...) throws(SQLiteError) -> Int {
        _ = try rows(sql, values) { _ in }
        return Int(unsafe sqlite3_changes(connection))
    }

    package func first<Row>(
        _ sql: StaticString, _ values: SQLiteValue..., read: (Statement) -> Row
    ) throws(SQLiteError) -> Row? {
        try rows(sql, values, read: read).first
    }

    /// Reads the integer in the first column of the first row; nil for NULL or no row.
    package func integer(_ sql: StaticString, _ values: SQLiteValue...) throws(SQLiteError) -> Int64? {
        try rows(sql, values) { $0.integer(0) }.first ?? nil
    }

    /// - Parameter read: reads the statement's current row.
    package func rows<Row>(
        _ sql: StaticString, _ values: [SQLiteValue] = [], read: (Statement) -> Row
    ) throws(SQLiteError) -> [Row] {
        let statement = try statement("\(sql)")
        defer { statement.reset() }
        guard statement.bind(values) == SQLITE_OK else { throw error }
        var rows: [Row] = []
        while true {
            switch statement.step() {
            case SQLITE_ROW: rows.append(read(statement))
            case SQLITE_DONE: return rows
            default: throw error
            }
        }
    }

    /// Reads the rows one at a time, in constant memory.
    package func cursor(_ sql: StaticString, _ values: SQLiteValue...) throws(SQLiteError) -> Cursor {
        guard let statement = unsafe Statement("\(sql)", on: connection) else { throw error }
        guard statement.bind(values) == SQLITE_OK else { throw error }
        return Cursor(statement, of: self)
    }

    /// Returns ``rowBounds``, after they were forgotten if another connection has changed the file.
    package func knownRowBounds() throws(SQLiteError) -> [Int64: Int64] {
        let version = try integer("PRAGMA data_version")
        if version != rowBoundsVersion { rowBounds = [:] }
        rowBoundsVersion = version
        return rowBounds
    }

    /// Runs `body` in a transaction that takes the write lock at its start, because two transactions that begin with a read
    /// could block each other.
    package func transaction<Value>(_ body: () throws(SQLiteError) -> Value) throws(SQLiteError) -> Value {
        try run("BEGIN IMMEDIATE")
        do throws(SQLiteError) {
            let value = try body()
            try run("COMMIT")
            return value
        } catch {
            rowBounds = [:]
            // After some errors SQLite has rolled back already, and this fails.
            _ = try? run("ROLLBACK")
            throw error
        }
    }

    private func statement(_ sql: String) throws(SQLiteError) -> Statement {
        if let statement = statements[sql] { return statement }
        guard let statement = unsafe Statement(sql, on: connection) else { throw error }
        statements[sql] = statement
        return statement
    }

    var error: SQLiteError { unsafe Self.error(connection) }

    private static func error(_ connection: OpaquePointer) -> SQLiteError {
        let reason = unsafe sqlite3_errmsg(connection).map { unsafe String(cString: $0) } ?? "unknown"
        return unsafe SQLiteError(
            extendedCode: sqlite3_extended_errcode(connection), systemError: sqlite3_system_errno(connection),
            reason: "SQLite: \(reason)")
    }
}

/// Forward-only row cursor.
package final class Cursor {
    private let database: Database
    private let statement: Statement

    init(_ statement: Statement, of database: Database) {
        self.statement = statement
        self.database = database
    }

    /// Returns the statement at its next row; nil after the last row.
    package func next() throws(SQLiteError) -> Statement? {
        switch statement.step() {
        case SQLITE_ROW: return statement
        case SQLITE_DONE: return nil
        default: throw database.error
        }
    }
}
