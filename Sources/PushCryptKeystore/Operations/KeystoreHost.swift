package import PushCryptCore
package import PushCryptKeysets
package import PushCryptPrimitives

/// A host that reads and changes keysets.
///
/// ```
/// lock, read the keyset, compare with the history, check clock and writer
/// unlock the keys, which authenticates the log; append a line, fold, check the invariants
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
    /// - Throws: `KeystoreRefusal` with `missing`, `olderThanHistory`, `twoHistories`, `notEncrypted`; what the storage throws.
    package func load(_ path: String) throws -> OpenedKeyset {
        var keyset = try require(storage.keyset(path), path).opened()
        let history = try storage.history(of: keyset.state.id)
        if let seen = history?.log, !keyset.log.extends(seen) {
            // Another process may have changed the keyset between the two reads.
            keyset = try require(storage.keyset(path), path).opened()
        }
        try require(keyset.state.id, history) { $0.objection(to: keyset) }
        try storage.raiseHistory(to: keyset, from: history, at: clock)
        return keyset
    }

    private func require(_ found: FoundKeyset?, _ path: String) throws(KeystoreRefusal) -> FoundKeyset {
        guard let found else { throw .missing(path: path) }
        return found
    }

    /// Locks and reads a keyset to change it, and compares it with what the host has seen. Uses no secret.
    ///
    /// - Throws: as ``load(_:)``, and `KeystoreRefusal` with `otherWriter`.
    package func lock(_ path: String) throws -> LockedKeyset<Storage.Locked> {
        let files = try storage.lock(path)
        let found = try require(files.keyset(path), path)
        let state = found.log.state
        let history = try storage.history(of: state.id)
        try requireExtension(found.log, of: history)
        if KeystoreRule.writer.isOn, let writer = state.writer, writer != name {
            throw KeystoreRefusal.otherWriter(writer)
        }
        return LockedKeyset(path: path, files: files, found: found, history: history)
    }

    /// - Throws: `KeystoreRefusal` with `olderThanHistory`, `twoHistories`.
    func requireExtension(_ log: KeysetLog, of history: KeysetHistory?) throws(KeystoreRefusal) {
        try require(log.state.id, history) { $0.objection(to: log) }
    }

    private func require(
        _ id: KeysetID, _ history: KeysetHistory?, _ objection: (KeysetHistory) -> KeysetHistory.Objection?
    ) throws(KeystoreRefusal) {
        guard let history, let objection = objection(history) else { return }
        throw KeystoreRefusal(objection, to: id, seen: history.log.state.head)
    }

    /// The time of a change: the clock's, but not before the last line.
    ///
    /// A clock that is before the last line can't be confirmed, because the change would count as that of the later time: it
    /// would destroy keys early. ``correctClock(_:)`` ends this.
    /// - Parameter isUrgent: whether any clock will do, as for a revocation.
    /// - Throws: `KeystoreRefusal` with `clockBehind`, `clockAhead`.
    package func time(for keyset: LockedKeyset<Storage.Locked>, isUrgent: Bool = false) throws -> UnixTime {
        switch isUrgent ? nil : clockFault(keyset.state, lastRun: keyset.history?.lastRun) {
        case .behind(let lastLine)?: throw KeystoreRefusal.clockBehind(lastLine: lastLine)
        case .ahead(let last)?: throw KeystoreRefusal.clockAhead(last: last)
        case nil: return max(clock, keyset.state.at)
        }
    }

    /// Why a change needs a person who looks at the clock; nil if the clock seems right or was confirmed.
    func clockFault(_ state: KeysetState, lastRun: UnixTime?) -> ClockFault? {
        guard KeystoreRule.clock.isOn else { return nil }
        guard clock + Freshness.toleranceInSeconds >= state.at else { return .behind(lastLine: state.at) }
        guard !confirmsClock else { return nil }
        let last = max(state.checkedAt, lastRun ?? state.checkedAt)
        let longestSilence: Int64 = (lastRun == nil ? 400 : 30) * 86_400
        // The set that ends last: the publisher of another epoch may be away, and an epoch may have ended.
        let setsEnd = state.epochs.keys.compactMap { state.published[$0]?.validUntil }.max()
        // A later run was right, or a person has confirmed its clock.
        let setsLimit = setsEnd.map { $0 + 7 * 86_400 }.flatMap { last <= $0 ? $0 : nil }
        let isPlausible = clock <= last + longestSilence && setsLimit.map { clock <= $0 } ?? true
        return isPlausible ? nil : .ahead(last: last)
    }

    /// Makes a keyset with a new key, see ``create(_:_:_:id:secrets:)``.
    package func create(
        _ path: String, _ kind: KeyKind, _ changes: KeysetChanges = KeysetChanges(), type: KeyPairType = .p256,
        psk: Bool = false, secrets: KeysetSecrets? = nil
    ) throws -> OpenedKeyset {
        let record = try KeyRecord.generate(kind, type: type, psk: psk, backend: DefaultBackend.shared)
        return try create(path, record, changes, secrets: secrets)
    }

    /// Makes a keyset with one key, that this host writes. The keystore's folder must exist.
    ///
    /// - Parameter id: for a command that was given the id when it wrapped the keys of `secrets`; nil for a random one.
    /// - Throws: `KeystoreRefusal` with `exists`, `publicationLimits`; what the storage throws.
    package func create(
        _ path: String, _ record: KeyRecord, _ changes: KeysetChanges = KeysetChanges(), id: KeysetID? = nil,
        secrets: KeysetSecrets? = nil
    ) throws -> OpenedKeyset {
        try changes.publication?.requireLimits()
        var changes = changes
        var key = KeysetChanges.Key(record.kid)
        (key.jwk, key.demandsPSK) = (try PublicJWK(record), record.hasPSK)
        key.moments = [.createdAt: clock, .activatesAt: clock]
        changes.keys.append(key)
        changes.writer = name
        changes.secrets = secrets?.names
        let log = try KeysetLog(creating: id ?? .random(), record.kind, at: clock, who: who, changes)
        let historyKey = try secrets.map { _ in try HistoryKey.random() }
        let material = KeysetMaterial(records: [record.kid: record], secrets: secrets, historyKey: historyKey)
        let files = try storage.lock(path)
        guard try files.keyset(path) == nil else { throw KeystoreRefusal.exists(path: path) }
        let new = OpenedKeyset(log, material)
        try files.replace(path, with: new)
        try files.setHistory(new.history(), from: nil)
        return new
    }

    /// Changes a keyset by one line.
    ///
    /// - Parameter body: nothing is written if it changes nothing.
    /// - Throws: as ``lock(_:)``, ``time(for:isUrgent:)`` and ``append(_:to:at:number:isOrdinary:isNeeded:_:)``.
    @discardableResult
    package func change(
        _ path: String, _ action: KeysetLine.Action, isUrgent: Bool = false, _ body: (inout KeysetDraft) throws -> Void
    ) throws -> OpenedKeyset {
        let keyset = try lock(path)
        return try append(action, to: keyset, at: time(for: keyset, isUrgent: isUrgent), body)
    }

    /// Unlocks a keyset, appends a line, and writes the file and then the history. Every change passes here.
    ///
    /// - Parameters:
    ///   - number: as for `KeysetLog.appending`.
    ///   - isOrdinary: as for ``KeysetDraft/finished(_:isOrdinary:)``.
    ///   - isNeeded: whether a line is written also if it changes nothing.
    /// - Throws: `KeystoreRefusal` with `demoKeys`, `notEncrypted`, `twoFiles`; `LifecycleError`; what `body` and the storage throw.
    func append(
        _ action: KeysetLine.Action, to locked: LockedKeyset<Storage.Locked>, at time: UnixTime, number: Int64? = nil,
        isOrdinary: Bool = true, isNeeded: Bool = false, _ body: (inout KeysetDraft) throws -> Void
    ) throws -> OpenedKeyset {
        guard !locked.state.isDemo else { throw KeystoreRefusal.demoKeys(path: locked.path) }
        var keyset = try locked.found.opened()
        // A restoration was asked for by a person, who sees what nothing authenticates.
        if isOrdinary { try require(keyset.state.id, locked.history) { $0.objection(to: keyset) } }
        var draft = KeysetDraft(keyset.state, at: time)
        draft.secrets = keyset.material.secrets
        try body(&draft)
        let (changes, records) = try draft.finished(keyset.material.records, isOrdinary: isOrdinary)
        if changes != KeysetChanges() || isNeeded {
            let log = try keyset.log.appending(action, at: time, who: who, number: number, changes)
            var material = keyset.material
            // A restoration may find keys of logs that it gives up.
            material.records = records.filter { log.state.key($0.key)?.hasMaterial ?? false }
            material.secrets = draft.secrets
            material.historyKey = try draft.secrets.map { _ in try material.historyKey ?? .random() }
            keyset = OpenedKeyset(log, material)
            // Only here, so that a command that changes nothing opens no other file.
            if action != .restored { try requireOneFile(locked) }
            try locked.files.replace(locked.path, with: keyset)
        }
        // Also what a crash left out.
        try locked.files.setHistory(keyset.history(after: locked.history, seenAt: clock), from: locked.history)
        return keyset
    }

    private func requireOneFile(_ keyset: LockedKeyset<Storage.Locked>) throws {
        let (id, path) = (keyset.state.id, keyset.path)
        guard KeystoreRule.oneFile.isOn else { return }
        let others = try keyset.files.others(of: id, than: path)
        guard others.isEmpty else { throw KeystoreRefusal.twoFiles(id: id, paths: [path] + others) }
    }
}

enum ClockFault {
    case behind(lastLine: UnixTime)
    case ahead(last: UnixTime)
}

/// The changes.
extension KeystoreHost {
    /// Carries out what is due.
    ///
    /// - Parameters:
    ///   - beginsNow: whether a rotation begins before it is due. A publisher gets a key then, which signs beside the others.
    ///   - suite: of a recipient's new key; nil for that of the newest key.
    /// - Returns: the log after it.
    @discardableResult
    package func rotate(_ path: String, beginsNow: Bool = false, suite: KeyPairType? = nil) throws -> KeysetLog {
        try rotate(lock(path), beginsNow: beginsNow, suite: suite).log
    }

    /// The same for a keyset that is locked.
    ///
    /// The secret is used if something is due, if the file has lines that this host hasn't seen, in the first run of a day, and
    /// after a run that failed. ``recordRun(of:status:)`` ends each run.
    /// - Parameters:
    ///   - sealsAtOnce: whether the next key seals from now on, also if devices haven't fetched it.
    ///   - coverage: the verdict of the devices' reports on a key; nil without reports.
    package func rotate(
        _ keyset: LockedKeyset<Storage.Locked>, beginsNow: Bool = false, sealsAtOnce: Bool = false,
        suite: KeyPairType? = nil, coverage: @escaping (KeyID) -> RotationPlan.CoverageVerdict? = { _ in nil }
    ) throws -> LockedKeyset<Storage.Locked> {
        let time = try time(for: keyset)
        let isPublisher = keyset.state.kind == .publisher
        let plan = plan(keyset.state, beginsNow: beginsNow && !sealsAtOnce, coverage: coverage)
        let adds = sealsAtOnce || isPublisher && beginsNow
        guard adds || !plan.due.isEmpty || !isTrusted(keyset) else { return keyset }
        let opened = try append(.rotated, to: keyset, at: time) { draft in
            try draft.carryOut(plan, suite: suite)
            if isPublisher, adds { try draft.addPublisher() } else if adds { try draft.sealAtOnce(suite) }
        }
        return keyset.followed(by: opened, at: clock)
    }

    /// Whether a run of today has used the secret, succeeded, and seen exactly these lines.
    func isTrusted(_ keyset: LockedKeyset<Storage.Locked>) -> Bool {
        guard keyset.isKnown, let history = keyset.history, history.lastStatus == 0 else { return false }
        return history.lastRun.map { $0.seconds / 86_400 == clock.seconds / 86_400 } ?? false
    }

    /// What ``rotate(_:beginsNow:suite:)`` carries out in this state, what is blocked, and what is next.
    ///
    /// - Parameter coverage: the verdict for a key; nil if there are no reports.
    package func plan(
        _ state: KeysetState, beginsNow: Bool = false,
        coverage: @escaping (KeyID) -> RotationPlan.CoverageVerdict? = { _ in nil }
    ) -> RotationPlan {
        let time = max(clock, state.at)
        guard state.kind != .publisher else { return RotationPlan(publishers: state.timeline, at: time) }
        return RotationPlan(
            state.timeline, state.policy, at: time, beginsNow: beginsNow, coverage: coverage)
    }

    /// Records the end of a run of `rotate`, if the host has seen the keyset. The time of a clock that is refused isn't recorded:
    /// it would count as right in the next run.
    ///
    /// - Parameter status: the exit status, 0 to 255.
    package func recordRun(of id: KeysetID, status: Int) throws {
        let files = try storage.lock(nil)
        try recordRun(storage.history(of: id), status, files)
    }

    /// The same for a keyset that is locked.
    package func recordRun(of keyset: LockedKeyset<Storage.Locked>, status: Int) throws {
        try recordRun(keyset.history, status, keyset.files)
    }

    private func recordRun(_ history: KeysetHistory?, _ status: Int, _ files: Storage.Locked) throws {
        guard let history else { return }
        var new = history
        if clockFault(history.log.state, lastRun: history.lastRun) == nil { new.lastRun = clock }
        new.lastStatus = status
        try files.setHistory(new, from: history)
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

    /// The key that seals, with its private half; nil if there is none.
    package func primary(_ path: String) throws -> KeyRecord? {
        let keyset = try load(path)
        return keyset.state.timeline.primary(at: clock).flatMap { keyset.material.records[$0.kid] }
    }

    /// Corrects the times of lines that were written under a clock that was ahead: each moment that such a line has written moves
    /// back by what the line is ahead, except revocations and destructions, which count at once.
    @discardableResult
    package func correctClock(_ path: String) throws -> OpenedKeyset {
        let keyset = try lock(path)
        guard keyset.state.at > clock else { return try keyset.found.opened() }
        return try append(.clockCorrected, to: keyset, at: clock, isOrdinary: false, isNeeded: true) { draft in
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
