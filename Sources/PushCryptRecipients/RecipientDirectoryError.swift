import PushCryptSQLite

/// Why a recipient directory, or one record of it, can't be used. It carries no key bytes.
package struct RecipientDirectoryError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of failure; more may be added.
    package struct Code: Hashable, Sendable, CustomStringConvertible {
        let name: String

        package var description: String { name }

        /// There is no such file.
        package static let notFound = Code(name: "notFound")
        /// The system refuses access.
        package static let noPermission = Code(name: "noPermission")
        /// The file, which may hold pre-shared keys, belongs to another user, who isn't root.
        package static let foreignOwner = Code(name: "foreignOwner")
        /// Others than the owner can reach the file, which may hold pre-shared keys.
        package static let looseMode = Code(name: "looseMode")
        /// Not a database with the table `recipients`; at an import, not JSON lines with records either.
        package static let notADirectory = Code(name: "notADirectory")
        /// Another file took the name, or a line changed during an import.
        package static let changedMeanwhile = Code(name: "changedMeanwhile")
        /// Several keys have this id: none of them is chosen.
        package static let collision = Code(name: "collision")
        /// A private key. It belongs on the device, not in a backend.
        package static let privateKey = Code(name: "privateKey")
        /// Not a key that can be sealed to, or not the key of its `kid`.
        package static let invalidRecord = Code(name: "invalidRecord")
        /// The database is damaged.
        package static let damaged = Code(name: "damaged")
        /// Others hold the database for too long.
        package static let busy = Code(name: "busy")
        /// The file to make can't be made; there is something of that name already.
        package static let cannotCreate = Code(name: "cannotCreate")
        /// Reading or writing failed half-way, or the disk is full.
        package static let inputOutput = Code(name: "inputOutput")
    }

    package let code: Code
    /// What is wrong, where, and what to do.
    package let reason: String
    /// At an import, the line of the record at fault, from 1; nil if there is none.
    package let lineNumber: Int?

    package init(_ code: Code, _ reason: String, line lineNumber: Int? = nil) {
        self.code = code
        self.reason = reason
        self.lineNumber = lineNumber
    }

    package var description: String { reason }
}

extension RecipientDirectoryError {
    /// - Parameter path: of the database.
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

    /// Any error of a closure as one of these.
    init(_ error: any Error, _ path: String) {
        switch error {
        case let error as RecipientDirectoryError: self = error
        case let error as SQLiteError: self.init(error, path)
        default: self.init(.inputOutput, "\(path): \(error)")
        }
    }
}

extension RecipientDirectoryError {
    /// A record that can't be used.
    init(flaw: StoredRecord.Flaw, in path: String, line: Int? = nil) {
        let place = line.map { "\(path): line \($0)" } ?? path
        self.init(flaw.isPrivateKey ? .privateKey : .invalidRecord, "\(place): \(flaw.reason)", line: line)
    }
}
