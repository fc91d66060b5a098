package import PushCryptFiles
import PushCryptPrimitives

#if canImport(SQLite3)
import SQLite3
#else
import CPushCryptSQLite
#endif

/// Why SQLite, or the system below it, didn't do something. The values that were bound are never in it.
package struct SQLiteError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What the owner of the database can do about it.
    package enum Kind: Sendable {
        /// There is no such file.
        case missing
        /// The file isn't the database that was written: only a new one helps.
        case damaged
        /// A later version of its owner wrote it.
        case newer
        /// Others hold the database for longer than the time-out.
        case busy
        /// The disk is full.
        case full
        /// The system refuses because the device wasn't unlocked yet.
        case locked
        /// It can't be opened or written here.
        case unavailable
        /// Anything else.
        case failed
    }

    package let kind: Kind
    /// SQLite's extended result code.
    package let extendedCode: Int32
    package let reason: String

    /// - Parameter systemError: `errno` of the call that failed; 0 for none.
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

    // Macros that are expressions of macros don't reach Swift.
    private static let shortRead = SQLITE_IOERR | 2 << 8
    private static let corruptFileSystem = SQLITE_IOERR | 33 << 8

    /// The statements of this package are fixed and tested. One that SQLite doesn't understand has met a schema that
    /// isn't the package's, which is damage, as is a constraint that only foreign rows can break.
    private static func kind(_ extendedCode: Int32, _ systemError: Int32) -> Kind {
        switch extendedCode & 0xff {
        case _ where extendedCode == shortRead || extendedCode == corruptFileSystem: .damaged
        case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_ERROR, SQLITE_CONSTRAINT, SQLITE_MISMATCH, SQLITE_SCHEMA,
            SQLITE_FORMAT, SQLITE_TOOBIG, SQLITE_RANGE:
            .damaged
        case SQLITE_BUSY, SQLITE_LOCKED: .busy
        case SQLITE_FULL: .full
        // Apple's SQLite says so for a file whose protection class keeps it closed.
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
            case .create, .write, .remove: "create the store"
            }
        self.init(
            extendedCode: error.code == .noSpace ? SQLITE_FULL : SQLITE_CANTOPEN, systemError: error.systemError,
            reason: "can't \(what): error \(error.systemError)")
    }
}
