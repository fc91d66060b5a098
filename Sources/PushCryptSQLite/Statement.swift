#if canImport(SQLite3)
import SQLite3
#else
import CPushCryptSQLite
#endif

/// A value for a parameter of a statement.
package enum SQLiteValue: Sendable {
    case integer(Int64)
    case text(String)
    /// Text as UTF-8 bytes, for text that must not be in a `String`.
    case utf8([UInt8])
    case null

    package init(_ integer: Int64?) { self = integer.map(SQLiteValue.integer) ?? .null }
    package init(_ text: String?) { self = text.map(SQLiteValue.text) ?? .null }
}

/// A prepared statement. Its functions for columns read the current row.
@safe package final class Statement {
    private let handle: OpaquePointer

    /// `SQLITE_TRANSIENT`, a macro that Swift doesn't import: SQLite copies the bytes before the call returns.
    private static var transient: sqlite3_destructor_type { unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self) }

    /// - Parameter connection: must be open; `sqlite3_close_v2` waits for the statement.
    init?(_ sql: String, on connection: OpaquePointer) {
        var prepared: OpaquePointer?
        let flags = UInt32(SQLITE_PREPARE_PERSISTENT)
        guard unsafe sqlite3_prepare_v3(connection, sql, -1, flags, &prepared, nil) == SQLITE_OK,
            let handle = unsafe prepared
        else { return nil }
        unsafe self.handle = handle
    }

    deinit { unsafe sqlite3_finalize(handle) }

    func bind(_ values: [SQLiteValue]) -> Int32 {
        for (index, value) in values.enumerated() {
            let result = bind(value, at: Int32(index + 1))
            guard result == SQLITE_OK else { return result }
        }
        return SQLITE_OK
    }

    private func bind(_ value: SQLiteValue, at index: Int32) -> Int32 {
        switch value {
        case .integer(let integer): return unsafe sqlite3_bind_int64(handle, index, integer)
        case .text(var text):
            return text.withUTF8 { bytes in
                unsafe bytes.withMemoryRebound(to: CChar.self) { characters in
                    unsafe sqlite3_bind_text(
                        handle, index, characters.baseAddress, Int32(characters.count), Self.transient)
                }
            }
        case .utf8(let bytes) where bytes.isEmpty: return bind(.text(""), at: index)
        case .utf8(let bytes):
            return unsafe bytes.withUnsafeBytes { buffer in
                let characters = unsafe buffer.assumingMemoryBound(to: CChar.self)
                return unsafe sqlite3_bind_text(
                    handle, index, characters.baseAddress, Int32(buffer.count), Self.transient)
            }
        case .null: return unsafe sqlite3_bind_null(handle, index)
        }
    }

    /// - Returns: `SQLITE_ROW`, `SQLITE_DONE` or an error.
    func step() -> Int32 { unsafe sqlite3_step(handle) }

    /// Ends the statement's read of the database and clears its values.
    func reset() {
        unsafe sqlite3_reset(handle)
        unsafe sqlite3_clear_bindings(handle)
    }

    /// The integer in a column, counted from 0; nil for NULL.
    package func integer(_ column: Int32) -> Int64? {
        unsafe sqlite3_column_type(handle, column) == SQLITE_NULL ? nil : sqlite3_column_int64(handle, column)
    }

    /// The text in a column, counted from 0; nil for NULL. Invalid UTF-8 in a damaged file is replaced by U+FFFD.
    package func text(_ column: Int32) -> String? {
        guard let start = unsafe sqlite3_column_text(handle, column) else { return nil }
        let count = unsafe Int(sqlite3_column_bytes(handle, column))
        return unsafe String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }

    /// The bytes of the text or blob in a column, counted from 0; nil for NULL.
    package func bytes(_ column: Int32) -> [UInt8]? {
        guard unsafe sqlite3_column_type(handle, column) != SQLITE_NULL else { return nil }
        guard let start = unsafe sqlite3_column_blob(handle, column) else { return [] }
        let count = unsafe Int(sqlite3_column_bytes(handle, column))
        return unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: count))
    }
}
