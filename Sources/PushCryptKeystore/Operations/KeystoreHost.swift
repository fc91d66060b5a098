package import PushCryptCore
package import PushCryptKeysets
package import PushCryptPrimitives

/// A host that reads and changes keysets.
///
/// ```
/// read the keyset, compare with the history, check clock and writer
/// append a line, fold, check the invariants
/// replace the file                                       this commits the change
/// write the history
/// ```
/// After a crash before the file is replaced nothing has happened; after it the history lacks the last lines, and the next
/// command writes them.
package struct KeystoreHost<Storage: KeystoreStorage> {
    package let storage: Storage
    /// The name in the log of the only host that changes a keyset.
    package let name: String
    /// The user, for the log.
    package let who: String
    /// The host's clock.
    package let clock: UnixTime
    /// Whether an operator has confirmed a clock that seems wrong.
    package let confirmsClock: Bool

    package init(
        _ storage: Storage, name: String, who: String, clock: UnixTime, confirmsClock: Bool = false
    ) {
        self.storage = storage
        self.name = name
        self.who = who
        self.clock = clock
        self.confirmsClock = confirmsClock
    }

    /// Reads a keyset and compares it with what the host has seen.
    ///
    /// - Throws: `KeystoreRefusal` with `missing`, `olderThanHistory`, `twoHistories`; to change it also `twoFiles`, `otherWriter`.
    package func load(_ path: String, toChange: Bool) throws -> OpenedKeyset {
        guard let keyset = try storage.keyset(path) else { throw KeystoreRefusal.missing(path: path) }
        let id = keyset.state.id
        let history = try storage.history(of: id)
        try requireExtension(keyset.log, of: history)
        if toChange {
            let paths = try storage.paths(of: id, inKeystoreOf: path)
            if KeystoreRule.oneFile.isOn, paths.count > 1 { throw KeystoreRefusal.twoFiles(id: id, paths: paths) }
            if KeystoreRule.writer.isOn, let writer = keyset.state.writer, writer != name {
                throw KeystoreRefusal.otherWriter(writer)
            }
        }
        try storage.setHistory(keyset.history(after: history))
        return keyset
    }

    /// The one check of copies.
    ///
    /// - Throws: `KeystoreRefusal` with `olderThanHistory`, `twoHistories`.
    func requireExtension(_ log: KeysetLog, of history: KeysetHistory?) throws(KeystoreRefusal) {
        guard KeystoreRule.history.isOn, let seen = history?.log, !log.extends(seen) else { return }
        let (id, head) = (log.state.id, seen.state.head)
        throw seen.extends(log) ? .olderThanHistory(id: id, seen: head) : .twoHistories(id: id, seen: head)
    }

    /// The time of a change: the clock's, but not before the last line.
    ///
    /// A clock that is before the last line can't be confirmed, because the change would count as that of the later time: it
    /// would destroy keys early. ``correctClock(_:)`` ends this.
    /// - Parameter isUrgent: whether any clock will do, as for a revocation.
    /// - Throws: `KeystoreRefusal` with `clockBehind`, `clockAhead`.
    package func time(for state: KeysetState, isUrgent: Bool = false) throws -> UnixTime {
        guard KeystoreRule.clock.isOn, !isUrgent else { return max(clock, state.at) }
        guard clock + Freshness.toleranceInSeconds >= state.at else {
            throw KeystoreRefusal.clockBehind(lastLine: state.at)
        }
        guard !confirmsClock else { return max(clock, state.at) }
        let lastRun = try storage.history(of: state.id)?.lastRun
        let last = max(state.at, lastRun ?? state.at)
        let longestSilence: Int64 = (lastRun == nil ? 400 : 30) * 86_400
        let setsEnd = state.published.values.compactMap(\.validUntil).min()
        let isPlausible = clock <= last + longestSilence && setsEnd.map { clock <= $0 + 7 * 86_400 } ?? true
        guard isPlausible else { throw KeystoreRefusal.clockAhead(last: last) }
        return max(clock, state.at)
    }

    /// Makes a keyset that this host writes.
    package func create(
        _ path: String, _ kind: KeyKind, _ changes: KeysetChanges = KeysetChanges(), type: KeyPairType = .p256,
        psk: Bool = false, secrets: KeysetSecrets? = nil
    ) throws -> OpenedKeyset {
        let record = try KeyRecord.generate(kind, type: type, psk: psk, backend: DefaultBackend.shared)
        var changes = changes
        var key = KeysetChanges.Key(record.kid)
        (key.jwk, key.demandsPSK) = (try PublicJWK(record), record.hasPSK)
        key.moments = [.createdAt: clock, .activatesAt: clock]
        changes.keys.append(key)
        changes.writer = name
        let log = try KeysetLog(creating: .random(), kind, at: clock, who: who, changes)
        let historyKey = try secrets.map { _ in try HistoryKey.random() }
        let material = KeysetMaterial(records: [record.kid: record], secrets: secrets, historyKey: historyKey)
        return try commit(OpenedKeyset(log, material), to: path)
    }

    /// Changes a keyset by one line.
    ///
    /// - Parameter body: nothing is written if it changes nothing.
    /// - Throws: as ``load(_:toChange:)`` and ``time(for:isUrgent:)``; `LifecycleError`; what `body` throws.
    @discardableResult
    package func change(
        _ path: String, _ action: KeysetLine.Action, isUrgent: Bool = false, _ body: (inout KeysetDraft) throws -> Void
    ) throws -> OpenedKeyset {
        let keyset = try load(path, toChange: true)
        return try append(action, to: keyset, at: time(for: keyset.state, isUrgent: isUrgent), in: path, body)
    }

    /// - Parameters:
    ///   - number: as for `KeysetLog.appending`.
    ///   - isOrdinary: as for ``KeysetDraft/finished(_:isOrdinary:)``.
    func append(
        _ action: KeysetLine.Action, to keyset: OpenedKeyset, at time: UnixTime, number: Int64? = nil,
        isOrdinary: Bool = true, in path: String, _ body: (inout KeysetDraft) throws -> Void
    ) throws -> OpenedKeyset {
        var draft = KeysetDraft(keyset.state, at: time)
        try body(&draft)
        let (changes, records) = try draft.finished(keyset.material.records, isOrdinary: isOrdinary)
        guard changes != KeysetChanges() || !isOrdinary else { return keyset }
        let log = try keyset.log.appending(action, at: time, who: who, number: number, changes)
        var material = keyset.material
        material.records = records
        return try commit(OpenedKeyset(log, material), to: path)
    }

    private func commit(_ keyset: OpenedKeyset, to path: String) throws -> OpenedKeyset {
        try storage.replace(path, with: keyset)
        try storage.setHistory(keyset.history(after: storage.history(of: keyset.state.id)))
        return keyset
    }
}

/// The changes.
extension KeystoreHost {
    /// Carries out what is due.
    ///
    /// - Parameter beginsNow: whether a rotation begins before it is due.
    @discardableResult
    package func rotate(_ path: String, beginsNow: Bool = false) throws -> OpenedKeyset {
        let keyset = try load(path, toChange: true)
        let time = try time(for: keyset.state)
        let plan = RotationPlan(
            keyset.state.timeline, keyset.state.policy, at: time, beginsNow: beginsNow, confirmsClock: true)
        let rotated = try append(.rotated, to: keyset, at: time, in: path) { try $0.carryOut(plan) }
        var history = rotated.history(after: try storage.history(of: rotated.state.id))
        history.lastRun = clock
        try storage.setHistory(history)
        return rotated
    }

    /// Revokes a key that leaked. It needs no confirmation of the clock.
    @discardableResult
    package func revoke(_ path: String, _ kid: KeyID, destroying: Bool = false) throws -> OpenedKeyset {
        try change(path, .revoked, isUrgent: true) { draft in
            try draft.revoke(kid)
            if destroying { try draft.destroy(kid, force: true) }
        }
    }

    /// Names the publisher keyset of an epoch.
    @discardableResult
    package func setEpoch(_ epoch: Int64, of path: String, publisher: KeysetID) throws -> OpenedKeyset {
        try change(path, .policy) { $0.changes.epochs[epoch] = .some(publisher) }
    }

    /// Makes this host the writer.
    @discardableResult
    package func moveHere(_ path: String) throws -> OpenedKeyset {
        let keyset = try load(path, toChange: false)
        guard keyset.state.writer != name else { return keyset }
        return try append(.moved, to: keyset, at: max(clock, keyset.state.at), in: path) { $0.changes.writer = name }
    }

    /// The key that seals, with its private half; nil if there is none.
    package func primary(_ path: String) throws -> KeyRecord? {
        let keyset = try load(path, toChange: false)
        return keyset.state.timeline.primary(at: clock).flatMap { keyset.material.records[$0.kid] }
    }

    /// Corrects the times of lines that were written under a clock that was ahead: each moment that such a line has written moves
    /// back by what the line is ahead, except revocations and destructions, which count at once.
    @discardableResult
    package func correctClock(_ path: String) throws -> OpenedKeyset {
        let keyset = try load(path, toChange: true)
        guard keyset.state.at > clock else { return keyset }
        return try append(.clockCorrected, to: keyset, at: clock, isOrdinary: false, in: path) { draft in
            for key in keyset.state.keys where !key.isLost {
                for (moment, written) in key.writtenAt where !moment.isFinal {
                    guard let value = key.lifecycle[keyPath: moment.path], value > clock else { continue }
                    guard KeystoreRule.shift.isOn else {
                        draft.set(moment, of: key.kid, to: clock)
                        continue
                    }
                    guard written > clock else { continue }
                    draft.set(moment, of: key.kid, to: value - (written.seconds - clock.seconds))
                }
            }
        }
    }
}
