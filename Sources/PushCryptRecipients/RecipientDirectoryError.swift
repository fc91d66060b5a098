package import PushCryptFiles
import PushCryptSQLite

/// Why a recipient directory or one of its records can't be used. It contains no key bytes.
package struct RecipientDirectoryError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of failure.
    package enum Code: String, CustomStringConvertible, Sendable {
        case notFound, noPermission, damaged, busy, inputOutput
        /// The file or its folder belongs to another user, who isn't root.
        case foreignOwner
        /// Users other than the owner can read the file or write to its folder.
        case looseMode
        /// The file is neither a database with the table `recipients` nor, for an import, JSON lines with records.
        case notADirectory
        /// Another file replaced the directory, or a line changed during an import.
        case changedMeanwhile
        /// Several records with different keys have this id. None of them is used.
        case collision
        /// A private key, which belongs on the device and not in a backend.
        case privateKey
        /// Not a key that can be sealed to, or not the key of its `kid`.
        case invalidRecord
        /// A record of a suite that this host lacks.
        case unsupportedSuite
        /// An import requires psks, and the record has none.
        case pskMissing
        /// The file can't be created, for instance because its name is taken.
        case cannotCreate

        package var description: String { rawValue }
    }

    package let code: Code
    /// The fault, its place, and how to correct it.
    package let reason: String
    /// The line number of the record, counted from 1, if an import of JSON lines failed; otherwise nil.
    package let lineNumber: Int?

    package init(_ code: Code, _ reason: String, line lineNumber: Int? = nil) {
        self.code = code
        self.reason = reason
        self.lineNumber = lineNumber
    }

    package var description: String { reason }
}

extension RecipientDirectoryError: FileErrorConvertible {
    package init(_ error: FileError) {
        let code: Code =
            switch error.code {
            case .notFound: .notFound
            case .noPermission, .symbolicLink: .noPermission
            case .foreignOwner: .foreignOwner
            case .looseMode: .looseMode
            case .notAFile, .otherEncoding: .notADirectory
            case .busy: .busy
            case .cannotCreate, .alreadyExists: .cannotCreate
            default: .inputOutput
            }
        self.init(code, error.reason)
    }

    init(_ error: SQLiteError, _ path: String) {
        let code: Code =
            switch error.kind {
            case .missing: .notFound
            case .damaged, .newer: .damaged
            case .busy: .busy
            case .locked, .unavailable: .noPermission
            case .full, .failed: .inputOutput
            }
        self.init(code, "\(path): \(error.reason)")
    }

    init(_ error: any Error, _ path: String) {
        switch error {
        case let error as RecipientDirectoryError: self = error
        case let error as SQLiteError: self.init(error, path)
        case let error as FileError: self.init(error)
        default: self.init(.inputOutput, "\(path): \(error)")
        }
    }

    init(flaw: RecordFlaw, in path: String, line: Int? = nil) {
        let place = line.map { "\(path): line \($0)" } ?? path
        let code: Code = flaw.isUnsupported ? .unsupportedSuite : flaw.isPrivateKey ? .privateKey : .invalidRecord
        self.init(code, "\(place): \(flaw.reason)", line: line)
    }
}
