import PushCryptFiles
import PushCryptPrimitives

#if canImport(SQLite3)
import SQLite3
#else
import CPushCryptSQLite
#endif

/// A connection to a database file, over the SQLite that every one of these systems has.
///
/// This and not a library: GRDB's object code is 2.7 MB, more than twice that of all this package puts into an extension, for
/// five tables and some dozen statements. It is also the only target beside OpenSSL's that handles pointers.
@safe package final class Database: @unchecked Sendable {
    // Unchecked because of the connection and its statements: they are used by one thread at a time, for the owner has
    // the database behind a lock.
    private let connection: OpaquePointer
    private var statements: [String: Statement] = [:]
    private var waitEnd = ContinuousClock.now

    /// Opens the file; SQLite reads it at the first use.
    ///
    /// - Parameters:
    ///   - creates: whether a file that isn't there is made.
    ///   - busyTimeout: how long one statement waits for other connections.
    package convenience init(path: String, creates: Bool = false, busyTimeout: Duration) throws(SQLiteError) {
        let flags = SQLITE_OPEN_READWRITE | (creates ? SQLITE_OPEN_CREATE : 0) | Self.protection
        try self.init(name: path, flags: flags, busyTimeout: busyTimeout)
    }

    /// A new, empty database in memory.
    package convenience init() throws(SQLiteError) {
        try self.init(name: ":memory:", flags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, busyTimeout: .zero)
    }

    /// Opens a file for reading that nobody changes as long as it is there: no lock is taken.
    package convenience init(immutable path: String) throws(SQLiteError) {
        let name = "file:\(Self.escaped(path))?immutable=1"
        try self.init(name: name, flags: SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, busyTimeout: .zero)
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

    /// A path as a URI has it: what has a meaning there is written by its number.
    private static func escaped(_ path: String) -> String {
        path.utf8.reduce(into: "") { uri, byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "-"):
                uri.unicodeScalars.append(Unicode.Scalar(byte))
            default: uri += (byte < 16 ? "%0" : "%") + String(byte, radix: 16)
            }
        }
    }

    // Readable and writable from the first unlock after a restart on. SQLite gives the class to the journal, too.
    #if os(iOS) || os(watchOS) || os(tvOS) || os(visionOS)
    private static let protection = SQLITE_OPEN_FILEPROTECTION_COMPLETEUNTILFIRSTUSERAUTHENTICATION
    #else
    private static let protection: Int32 = 0
    #endif

    /// All statements from here on together wait for other connections until that moment at most; `busyTimeout` no
    /// longer applies.
    package func wait(until end: ContinuousClock.Instant) {
        waitEnd = end
        // SQLite calls it on the thread of the statement that waits, so the database is there.
        unsafe sqlite3_busy_handler(
            connection,
            { context, _ in
                guard let context = unsafe context else { return 0 }
                return unsafe Unmanaged<Database>.fromOpaque(context).takeUnretainedValue().waitsOn() ? 1 : 0
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    private func waitsOn() -> Bool {
        guard ContinuousClock.now < waitEnd else { return false }
        FileLock.pause()
        return true
    }

    /// Whether the file under the name isn't the open one any more.
    package var hasMoved: Bool {
        var moved: Int32 = 0
        let result = unsafe sqlite3_file_control(connection, "main", SQLITE_FCNTL_HAS_MOVED, &moved)
        return result != SQLITE_OK || moved != 0
    }

    /// Runs statements without parameters.
    package func script(_ sql: StaticString) throws(SQLiteError) {
        guard unsafe sqlite3_exec(connection, "\(sql)", nil, nil, nil) == SQLITE_OK else { throw error }
    }

    /// Runs a statement; values get into it as parameters only, so the text is a literal.
    ///
    /// - Returns: how many rows it changed.
    @discardableResult
    package func run(_ sql: StaticString, _ values: SQLiteValue...) throws(SQLiteError) -> Int {
        _ = try rows(sql, values) { _ in }
        return Int(unsafe sqlite3_changes(connection))
    }

    /// The first row.
    package func first<Row>(
        _ sql: StaticString, _ values: SQLiteValue..., read: (Statement) -> Row
    ) throws(SQLiteError) -> Row? {
        try rows(sql, values, read: read).first
    }

    /// - Parameter read: makes a value of the row that the statement stands on.
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

    /// The rows one at a time, in constant memory.
    package func cursor(_ sql: StaticString, _ values: SQLiteValue...) throws(SQLiteError) -> Cursor {
        guard let statement = unsafe Statement("\(sql)", on: connection) else { throw error }
        guard statement.bind(values) == SQLITE_OK else { throw error }
        return Cursor(statement, of: self)
    }

    /// All or nothing. It has the only right to write from the start: two that began by reading couldn't both go on.
    package func transaction<Value>(
        _ body: () throws(SQLiteError) -> Value
    ) throws(SQLiteError) -> Value {
        try run("BEGIN IMMEDIATE")
        do throws(SQLiteError) {
            let value = try body()
            try run("COMMIT")
            return value
        } catch {
            // Some errors have rolled back already; then there is nothing to do.
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
