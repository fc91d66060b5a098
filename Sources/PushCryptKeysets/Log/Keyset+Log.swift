package import PushCryptCore
import PushCryptFiles
import PushCryptPrimitives

extension Keyset {
    /// The keys of a keyset's file with their lifecycles as they count, without lost and destroyed keys.
    ///
    /// - Throws: `KeyError` with `malformed` if no key is left; `KeysetLogError` with `otherKeys`.
    package init(_ opened: OpenedKeyset) throws {
        try self.init(opened.log) { key in
            guard let record = opened.material.records[key.kid] else {
                throw KeysetLogError(.otherKeys, row: 0, key.kid.description)
            }
            return record
        }
    }

    /// The public keys of a log, for lists and for checks of signatures. Nothing authenticates them: who can write the file can
    /// put other keys there.
    ///
    /// - Throws: `KeyError` with `wrongKind` for shared keys, which have no public half; `malformed` if no key is left;
    ///   `unsupportedSuite`.
    package init(unauthenticatedPublicKeysOf log: KeysetLog) throws {
        try self.init(log) { key in
            guard let jwk = key.jwk else { throw KeyError(.wrongKind, "shared keys have no public half") }
            return try KeyRecord(JSONText(jwk.json).root, backend: DefaultBackend.shared)
        }
    }

    private init(_ log: KeysetLog, record: (KeysetState.Key) throws -> KeyRecord) throws {
        let state = log.state
        let entries = try state.keys.filter(\.hasMaterial).map { key in
            Entry(try record(key), state.effective(key), demandsPSK: key.demandsPSK)
        }
        try self.init(entries, sequence: state.head.number, updatedAt: state.at)
    }
}

/// What a host has seen, for programs that only read keysets.
extension KeysetHistory {
    package enum Objection: Sendable {
        /// The host has seen later lines: the log is an old copy.
        case older
        /// Neither the log nor what the host has seen goes on from the other.
        case parted
    }

    /// Why a log isn't accepted by a host that has seen this; nil if it goes on from it.
    package func objection(to log: KeysetLog) -> Objection? {
        guard KeystoreRule.history.isOn, !log.extends(self.log) else { return nil }
        return self.log.extends(log) ? .older : .parted
    }
}

extension HistoryFolder {
    /// Compares a keyset that was authenticated with what the host has seen, and remembers it if the caller can write the folder.
    /// Demo keysets have no history.
    ///
    /// - Parameter source: the place of the keyset, for errors.
    /// - Throws: `KeystoreError` with `olderThanHistory`, `twoHistories`, `damaged` for the history itself, and the codes of files.
    func admit(_ keyset: OpenedKeyset, from source: String) throws {
        guard !keyset.state.isDemo else { return }
        try KeystoreError.convertingLogErrors(path) {
            let seen = try KeystoreError.convertingFileErrors { try history(of: keyset.state.id) }
            if let seen, let objection = seen.objection(to: keyset.log) {
                throw KeystoreError(objection, to: keyset.state, from: source, seen.log.state, in: path)
            }
            try KeystoreError.convertingFileErrors { try raise(to: keyset, from: seen) }
        }
    }
}

extension KeystoreError {
    /// Runs `body` and converts an error about a keyset's file or the history of one.
    ///
    /// - Parameter source: the place of the keyset.
    static func convertingLogErrors<Value>(_ source: String, _ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error as KeysetLogError {
            throw KeystoreError(error, in: source)
        } catch let error as KeysetFileError {
            throw KeystoreError(error.cause, in: error.path)
        }
    }

    fileprivate init(
        _ objection: KeysetHistory.Objection, to state: KeysetState, from source: String, _ seen: KeysetState,
        in folder: String
    ) {
        let facts = "\(source) ends at line \(state.head.number), and \(folder) has seen line \(seen.head.number)"
        switch objection {
        case .older: self.init(.olderThanHistory, "\(facts): the file is an old copy")
        case .parted: self.init(.twoHistories, "\(facts), which it doesn't contain: two hosts have changed copies")
        }
    }

    private init(_ error: KeysetLogError, in source: String) {
        switch error.code {
        case .secretNeeded: self.init(.secretNeeded, "\(source) has no secret of this kind")
        case .wrongSecret: self.init(.wrongSecret, "\(source): the passphrase is wrong")
        case .notEncrypted: self.init(.notEncrypted, "\(source) is not encrypted, though a secret was given")
        case .unsupportedVersion: self.init(.notAKeyset, "\(source) was written by a later version")
        default:
            let place = error.row == 0 ? source : "\(source), line \(error.row)"
            let member = error.member.map { " (\($0))" } ?? ""
            self.init(.damaged, "\(place) is damaged or was changed: \(error.code.rawValue)\(member)")
        }
    }
}
