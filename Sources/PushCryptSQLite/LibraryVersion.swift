#if canImport(SQLite3)
import SQLite3
#else
import CPushCryptSQLite
#endif

/// The SQLite that this process uses.
package enum SQLiteLibrary {
    /// Its version: `3.40.1`. Of the library that was loaded, which can be newer than the headers.
    package static var version: String { unsafe String(cString: sqlite3_libversion()) }

    /// Whether it was linked into the program, which then doesn't use the system's.
    package static var isBuiltIn: Bool {
        #if os(Linux)
        pushcrypt_sqlite_is_built_in() == 1
        #else
        false
        #endif
    }
}
