package import PushCryptCore

/// A keyset that was read and, if it is encrypted, authenticated.
package struct OpenedKeyset: Sendable {
    package let log: KeysetLog
    package let material: KeysetMaterial

    package init(_ log: KeysetLog, _ material: KeysetMaterial) {
        self.log = log
        self.material = material
    }

    package var state: KeysetState { log.state }
    /// What a host remembers of the keyset.
    ///
    /// - Parameters:
    ///   - old: what it remembered before, with the last run.
    ///   - time: of a first sight; nil for a keyset that the host makes.
    package func history(after old: KeysetHistory? = nil, seenAt time: UnixTime? = nil) -> KeysetHistory {
        KeysetHistory(
            log, mac: material.historyKey?.mac(of: log), firstSeen: old == nil ? time : old?.firstSeen,
            lastRun: old?.lastRun, lastStatus: old?.lastStatus)
    }
}

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
