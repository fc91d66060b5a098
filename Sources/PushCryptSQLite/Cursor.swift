#if canImport(SQLite3)
import SQLite3
#else
import CPushCryptSQLite
#endif

/// Forward-only row cursor.
package final class Cursor {
    private let database: Database
    private let statement: Statement

    init(_ statement: Statement, of database: Database) {
        self.statement = statement
        self.database = database
    }

    /// - Returns: the statement on its next row; nil after the last.
    package func next() throws(SQLiteError) -> Statement? {
        switch statement.step() {
        case SQLITE_ROW: return statement
        case SQLITE_DONE: return nil
        default: throw database.error
        }
    }
}
