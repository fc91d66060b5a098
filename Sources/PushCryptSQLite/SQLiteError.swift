package import PushCryptFiles
import PushCryptPrimitives

#if canImport(SQLite3)
import SQLite3
#else
import CPushCryptSQLite
#endif

/// Why a call of SQLite or of the file system failed. It never contains bound values.
package struct SQLiteError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of failure, as far as the owner of the database can react to it.
    package enum Kind: Sendable {
        /// `damaged`: the file must be replaced. `newer`: a later version of the owner wrote it. `busy`: other connections
        /// locked it for longer than the timeout. `locked`: the device wasn't unlocked yet. `unavailable`: the file can't be
        /// opened or written.
        case missing, damaged, newer, busy, full, locked, unavailable, failed
    }

    package let kind: Kind
    /// SQLite's extended result code.
    package let extendedCode: Int32
    package let reason: String

    /// - Parameter systemError: `errno` of the failed call; 0 for none.
    package init(extendedCode: Int32, systemError: Int32, reason: String) {
        kind = Self.kind(extendedCode, systemError)
        self.extendedCode = extendedCode
        self.reason = reason
    }

    package init(_ kind: Kind, _ reason: String) {
        self.kind = kind
        extendedCode = kind == .damaged ? SQLITE_CORRUPT : SQLITE_ERROR
        self.reason = reason
    }

    package var description: String { reason }

    /// Whether a value exceeds the limit of ``Database/limitValues(toBytes:)``.
    package var isTooLong: Bool { extendedCode & 0xff == SQLITE_TOOBIG }

    // Swift doesn't import macros that are expressions of macros.
    private static let shortRead = SQLITE_IOERR | 2 << 8
    private static let corruptFileSystem = SQLITE_IOERR | 33 << 8

    /// The statements are fixed and tested. So if SQLite rejects one, or a constraint fails, the file is damaged: it doesn't
    /// have the schema or the rows of this package.
    private static func kind(_ extendedCode: Int32, _ systemError: Int32) -> Kind {
        switch extendedCode & 0xff {
        case _ where extendedCode == shortRead || extendedCode == corruptFileSystem: .damaged
        case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_ERROR, SQLITE_CONSTRAINT, SQLITE_MISMATCH, SQLITE_SCHEMA,
            SQLITE_FORMAT, SQLITE_TOOBIG, SQLITE_RANGE:
            .damaged
        case SQLITE_BUSY, SQLITE_LOCKED: .busy
        case SQLITE_FULL: .full
        // Apple's SQLite returns it for a file that its protection class makes unreadable.
        case SQLITE_AUTH: .locked
        case SQLITE_CANTOPEN, SQLITE_IOERR, SQLITE_PERM, SQLITE_READONLY:
            systemError == EPERM ? .locked : extendedCode & 0xff == SQLITE_IOERR ? .failed : .unavailable
        default: .failed
        }
    }
}

extension SQLiteError: FileErrorConvertible {
    package init(_ error: FileError) {
        guard let operation = error.operation else {
            self.init(error.code == .busy ? .busy : .unavailable, error.reason)
            return
        }
        let what =
            switch operation {
            case .read: "open the folder of the store"
            case .lock: "lock the folder of the store"
            case .create, .replace, .write, .remove: "create the store"
            }
        self.init(
            extendedCode: error.code == .noSpace ? SQLITE_FULL : SQLITE_CANTOPEN, systemError: error.systemError,
            reason: "can't \(what): error \(error.systemError)")
    }
}
