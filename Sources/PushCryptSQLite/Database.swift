#if canImport(SQLite3)
import SQLite3
#else
import CPushCryptSQLite
#endif

enum SQLiteVersion {
    static var number: Int32 { sqlite3_libversion_number() }
}
