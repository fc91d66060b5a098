import PushCryptCore
import PushCryptFiles
import PushCryptPrimitives

/// What a host has seen, for programs that only read keysets.
extension KeysetHistory {
    package enum Objection: Sendable {
        /// The host has seen later lines: the log is an old copy.
        case older
        /// Neither the log nor what the host has seen goes on from the other.
        case parted
        /// The host has seen the keyset encrypted. Nothing authenticates keys in clear.
        case notEncrypted
    }

    /// Why a log isn't accepted by a host that has seen this; nil if it goes on from it. This is the one check of copies.
    package func objection(to log: KeysetLog) -> Objection? {
        guard KeystoreRule.history.isOn, !log.extends(self.log) else { return nil }
        return self.log.extends(log) ? .older : .parted
    }

    /// The same for a keyset that was unlocked.
    package func objection(to keyset: OpenedKeyset) -> Objection? {
        if mac != nil, keyset.material.historyKey == nil { return .notEncrypted }
        return objection(to: keyset.log)
    }
}

/// Why a program doesn't use a keyset that it has read: the host has seen another log of it.
package struct HistoryRefusal: Error, Sendable {
    package let objection: KeysetHistory.Objection
    package let id: KeysetID
    /// The place of the keyset.
    package let path: String
    /// The last line of the file, and of what the host has seen.
    package let line, seen: LogPoint
}

extension HistoryFolder {
    /// Compares a keyset that was authenticated with what the host has seen, and remembers it if the caller can write the folder.
    /// Demo keysets have no history.
    ///
    /// - Parameter source: the place of the keyset, for errors.
    /// - Throws: ``HistoryRefusal``; `KeystoreError` with the codes of files; ``KeysetFileError`` for a damaged history.
    func admit(_ keyset: OpenedKeyset, from source: String) throws {
        guard !keyset.state.isDemo else { return }
        try KeystoreError.convertingFileErrors {
            let seen = try history(of: keyset.state.id)
            if let seen, let objection = seen.objection(to: keyset) {
                throw HistoryRefusal(
                    objection: objection, id: keyset.state.id, path: source, line: keyset.state.head,
                    seen: seen.log.state.head)
            }
            try raise(to: keyset, from: seen)
        }
    }
}

extension KeystoreError {
    /// Runs `body` and converts an error about a keyset's file or its history.
    static func convertingKeysetErrors<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error as KeysetFileError {
            throw KeystoreError(error.cause, in: error.path)
        } catch let refusal as HistoryRefusal {
            throw KeystoreError(refusal)
        }
    }

    private init(_ refusal: HistoryRefusal) {
        let (path, seen) = (refusal.path, refusal.seen.number)
        switch refusal.objection {
        case .older:
            self.init(
                .olderThanHistory,
                "\(path) is an old copy: it ends at line \(refusal.line.number), and this host has seen line \(seen)")
        case .parted:
            self.init(
                .twoHistories,
                "\(path): two hosts have changed copies: this host has seen another line \(seen)")
        case .notEncrypted:
            self.init(.notEncrypted, "\(path) is not encrypted, and this host has seen it encrypted")
        }
    }

    private init(_ error: KeysetLogError, in source: String) {
        switch error.code {
        case .secretNeeded: self.init(.secretNeeded, "\(source) is encrypted and has no secret of this kind")
        case .wrongSecret: self.init(.wrongSecret, "\(source): the passphrase is wrong")
        case .notEncrypted: self.init(.notEncrypted, "\(source) is not encrypted, though a secret was given")
        case .unsupportedVersion: self.init(.notAKeyset, "\(source) was written by a later version")
        default:
            let place = error.row == 0 ? source : "\(source), line \(error.row)"
            let member = error.member.map { " (\($0))" } ?? ""
            self.init(.damaged, "\(place)\(member): damaged or changed (\(error.code.rawValue))")
        }
    }
}
