/// Why a keyset's file or log is refused: a rule of docs/keyset-log.md, and the row.
package struct KeysetLogError: Error, Hashable, Sendable {
    package enum Code: String, Sendable {
        /// More than 4 MiB.
        case tooLarge
        /// No line, no last row, or no line feed at the end.
        case incomplete
        case malformed
        case unsupportedVersion
        case wrongNumber
        case brokenChain
        case timeWentBack
        case misplaced
        case wrongKind
        case kidMismatch
        case unknownEpoch
        case wrongDigest
        case notAuthentic
        case otherKeys
        /// The names of the secrets aren't those of the log.
        case otherSecrets
        /// The keys are in clear, and a secret was given.
        case notEncrypted
        case secretNeeded
        case wrongSecret
    }

    package let code: Code
    /// Counted from 1; 0 for the whole file.
    package let row: Int
    /// The member at fault; nil if there isn't one.
    package let member: String?

    package init(_ code: Code, row: Int, _ member: String? = nil) {
        self.code = code
        self.row = row
        self.member = member
    }
}

/// Why a file of a keyset, or the history of one, is refused.
package struct KeysetFileError: Error, Hashable, Sendable {
    package let path: String
    package let cause: KeysetLogError

    package init(_ path: String, _ cause: KeysetLogError) {
        self.path = path
        self.cause = cause
    }

    /// Runs `body` and adds the path to a `KeysetLogError`. Other errors are thrown as they are.
    package static func naming<Value>(_ path: String, _ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error as KeysetLogError {
            throw KeysetFileError(path, error)
        }
    }
}
