import PushCryptCore
import PushCryptFiles
import PushCryptKeysets

/// 36 hours: a daily run may be late by half a day.
let statusPauseInSeconds: Int64 = 36 * 3_600

/// Reads the keystores and finds the faults. A fault is one finding, also if others follow from it.
final class StatusExamination<Storage: KeystoreStorage> {
    let host: KeystoreHost<Storage>
    let places: KeystoreStatus.Places
    let isLong: Bool
    let secret: ((KeysetReference) throws -> KeysetSecret?)?
    let probe: (String, Bool) -> FolderFault?
    var findings: [StatusFinding] = []
    /// What a run of `rotate` ends. So it follows from what keeps `rotate` from its work.
    var late: [StatusFinding] = []
    /// Runs of `rotate` that have failed.
    private var failures: [StatusFinding] = []
    var keysets: [ExaminedKeyset] = []
    private var readKeystores: [String] = []
    private var unreadFiles: [KeysetLocation] = []

    init(
        _ host: KeystoreHost<Storage>, _ places: KeystoreStatus.Places, isLong: Bool,
        secret: ((KeysetReference) throws -> KeysetSecret?)?, probe: @escaping (String, Bool) -> FolderFault?
    ) {
        self.host = host
        self.places = places
        self.isLong = isLong
        self.secret = secret
        self.probe = probe
    }

    func examine() {
        var files: [KeysetID: [ExaminedKeyset]] = [:]
        for keystore in places.keystores {
            for keyset in read(keystore) where !keyset.state.isDemo {
                files[keyset.state.id, default: []].append(keyset)
            }
        }
        for (_, copies) in files.sorted(by: { $0.key < $1.key }) { keysets.append(examineCopies(copies)) }
        examineMissing()
        for keyset in keysets where keyset.isSound {
            examineKeys(keyset)
            examineClock(keyset)
            examineLastRun(keyset)
            if keyset.isRotated { examineRotation(keyset) }
            guard isWriter(keyset) else { continue }
            examineSets(keyset)
            examineOutbox(keyset)
        }
        explain(probeFolders())
    }

    /// Whether all files could be read. One that can't may be the one that seems to be missing.
    var isComplete: Bool { readKeystores.count == places.keystores.count && unreadFiles.isEmpty }

    func isWriter(_ keyset: ExaminedKeyset) -> Bool { keyset.state.writer.map { $0 == host.name } ?? true }

    /// Turns an error into a finding.
    func attempt<Value>(
        _ path: String, _ keyset: KeysetReference?, ifDamaged remedy: StatusFinding.Remedy, _ body: () throws -> Value
    ) -> Value? {
        do {
            return try body()
        } catch {
            findings.append(StatusFinding(error, reading: path, keyset, ifDamaged: remedy))
            return nil
        }
    }
}

/// Files and copies.
extension StatusExamination {
    private func read(_ keystore: String) -> [ExaminedKeyset] {
        let found = attempt(keystore, nil, ifDamaged: .inspect(path: keystore)) {
            let folder = try Folder(keystore)
            try folder.check(.othersMayRead)
            return (folder, try folder.names())
        }
        guard let (folder, names) = found else { return [] }
        readKeystores.append(keystore)
        var keysets: [ExaminedKeyset] = []
        for name in names {
            let path = folder.path(of: name)
            guard name.hasSuffix(KeysetLocation.suffix) else {
                guard isLong, name != KeysetLocation.lockName, folder.status(of: name)?.kind != .folder else {
                    continue
                }
                findings.append(StatusFinding(.unknownFile(path: path), nil, .removeFile(path: path)))
                continue
            }
            let location = KeysetLocation(path)
            let unread = KeysetReference(location, nil)
            let rows = attempt(path, unread, ifDamaged: .restore(unread)) { try KeysetRows(at: location, .changing) }
            guard let rows else {
                unreadFiles.append(location)
                continue
            }
            keysets.append(ExaminedKeyset(reference: KeysetReference(location, rows.log.state.id), rows: rows))
        }
        return keysets
    }

    /// - Parameter copies: the files of one id.
    private func examineCopies(_ copies: [ExaminedKeyset]) -> ExaminedKeyset {
        // The longest, or the one with the expected name.
        let sorted = copies.sorted { ($0.log.lines.count, isExpected($0)) > ($1.log.lines.count, isExpected($1)) }
        var keyset = sorted[0]
        let (reference, id) = (keyset.reference, keyset.state.id)
        let history = attempt(historyPath(id), reference, ifDamaged: .restore(reference)) {
            try host.storage.history(of: id)
        }
        guard let history else { return keyset }
        keyset.history = history
        guard sorted.count == 1 else {
            let locations = sorted.compactMap(\.reference.location)
            let isOneKeystore = Set(locations.map(\.keystore)).count == 1
            findings.append(
                StatusFinding(
                    .twoFiles(locations), reference,
                    isOneKeystore ? .restore(reference) : .removeFile(path: locations[1].path)))
            return keyset
        }
        if let history {
            do throws(KeystoreRefusal) {
                try host.requireExtension(keyset.log, of: history)
            } catch {
                let (seen, at) = (history.log.state.head, history.log.state.at)
                var facts = StatusFinding.Facts.twoHistories(seen: seen, at: at)
                if case .olderThanHistory = error { facts = .oldCopy(seen: seen, at: at) }
                findings.append(StatusFinding(facts, reference, .restore(reference)))
                return keyset
            }
        }
        let isNew = history.map { $0.firstSeen.map { host.clock < $0 + Self.dayInSeconds } ?? false } ?? true
        if isNew, places.history != nil {
            findings.append(
                StatusFinding(.firstSight(keyset.state.head, at: keyset.state.at), reference, .compare(reference)))
        }
        keyset.isSound = !isLong || authenticate(keyset)
        return keyset
    }

    private func isExpected(_ keyset: ExaminedKeyset) -> Int {
        places.expected.contains { $0 == keyset.reference.location?.name } ? 1 : 0
    }

    private func historyPath(_ id: KeysetID) -> String { (places.history?.path ?? "") + "/\(id)" }

    private func authenticate(_ keyset: ExaminedKeyset) -> Bool {
        guard let secret, let path = keyset.reference.location?.path else { return true }
        let (reference, place) = (keyset.reference, historyPath(keyset.state.id))
        let result = attempt(path, reference, ifDamaged: .restore(reference)) {
            let given = try secret(reference)
            return keyset.rows.isEncrypted && given == nil ? nil : try keyset.rows.unlocked(given)
        }
        guard let result else { return false }
        guard let material = result, let history = keyset.history, !history.isAuthentic(material.historyKey) else {
            return true
        }
        let error = KeysetLogError(.notAuthentic, row: 0)
        findings.append(StatusFinding(.damaged(path: place, error), reference, .removeFile(path: place)))
        return false
    }

    /// Compares what must be there with what is there. A keystore or file that can't be read may be what is missing.
    private func examineMissing() {
        guard readKeystores.count == places.keystores.count else { return }
        let here = keysets.flatMap { [$0.reference.location?.name, "\($0.state.id)"] } + unreadFiles.map(\.name)
        let names = places.expected.filter { !here.contains($0) }
        var lost: [KeysetID] = []
        if isComplete, let folder = places.history {
            let ids = attempt(folder.path, nil, ifDamaged: .inspect(path: folder.path)) { try folder.ids() } ?? []
            for id in ids where !keysets.contains(where: { $0.state.id == id }) {
                let place = historyPath(id)
                let history = attempt(place, KeysetReference(nil, id), ifDamaged: .removeFile(path: place)) {
                    try host.storage.history(of: id)
                }
                // A host that signs for another one has seen keysets that it doesn't have.
                if let state = history??.log.state, state.writer ?? host.name == host.name { lost.append(id) }
            }
        }
        // Histories have no names: one that is missing is the one expected.
        let one = names.count == 1 && lost.count == 1 ? lost[0] : nil
        // As `restore` does: a keystore of which all is lost comes first.
        let empty = places.keystores.first { path in
            !keysets.contains { $0.reference.location?.keystore == path }
        }
        let keystore = empty ?? places.keystores.first ?? "."
        var references = names.map { KeysetReference(KeysetLocation("\(keystore)/\($0)"), one) }
        if lost.count > names.count { references += lost.map { KeysetReference(nil, $0) } }
        findings += references.map { StatusFinding(.missing(path: $0.location?.path), $0, .restore($0)) }
        let named = places.secrets.map { ("secrets", $0) } + places.devices.keys.map { ("devices", $0) }
        let unknown = named.filter { !here.contains($1) && !places.expected.contains($1) }.map { "\($0).\($1)" }
        if isComplete, !unknown.isEmpty {
            findings.append(StatusFinding(.unknownName(unknown.sorted()), nil, .correctSettings))
        }
    }

    private func probeFolders() -> [StatusFinding] {
        var faults = readKeystores.map { ($0, probe($0, true)) }
        // The history's folder is made when it is needed.
        if let path = places.history?.path, FileSystem.exists(path) { faults.append((path, probe(path, false))) }
        if let served = places.served { faults.append((served, probe(served, false))) }
        var folders: [FolderFault: [String]] = [:]
        for case (let path, let fault?) in faults { folders[fault, default: []].append(path) }
        return folders.map { $0.finding($1) }.sorted()
    }
}

/// Keys, clock and runs.
extension StatusExamination {
    private func examineKeys(_ keyset: ExaminedKeyset) {
        let (reference, state) = (keyset.reference, keyset.state)
        func note(_ condition: Bool, _ facts: StatusFinding.Facts, _ remedy: StatusFinding.Remedy) -> [StatusFinding] {
            condition ? [StatusFinding(facts, reference, remedy)] : []
        }
        // Nothing needs a key that has ended.
        let lost = state.keys.filter { key in
            key.isLost && ![.expired, .revoked, .destroyed].contains(state.effective(key).state(at: host.clock))
        }
        let signsNothing = state.kind == .publisher && !state.keys.contains(where: \.hasMaterial)
        let byteCount = keyset.log.bytes.count
        findings += note(!lost.isEmpty, .lostKeys(lost.map(\.kid)), .restore(reference))
        findings += note(!keyset.rows.isEncrypted, .notEncrypted, .encrypt(reference))
        findings += note(signsNothing, .noKeySeals(from: host.clock), .restore(reference))
        findings += note(
            byteCount > KeysetLog.maximumByteCount / 2, .nearLimit(.log, byteCount), .replaceKeyset(reference))
    }

    private func examineClock(_ keyset: ExaminedKeyset) {
        let reference = keyset.reference
        switch host.clockFault(keyset.state, lastRun: keyset.history?.lastRun) {
        case .behind(let lastLine)?:
            late.append(StatusFinding(.clock(isBehind: true, last: lastLine), reference, .setClock))
        case .ahead(let last)?:
            guard keyset.isRotated, isWriter(keyset) else { return }
            late.append(StatusFinding(.clock(isBehind: false, last: last), reference, .setClock))
        case nil: return
        }
    }

    /// Also of a publisher, which is needed only when a set must be signed.
    private func examineLastRun(_ keyset: ExaminedKeyset) {
        let (lastRun, lastStatus) = (keyset.history?.lastRun, keyset.history?.lastStatus)
        guard isWriter(keyset), let lastStatus, ![0, Self.waits].contains(lastStatus),
            (lastRun ?? keyset.state.at) + statusPauseInSeconds >= host.clock || keyset.state.kind == .publisher
        else { return }
        failures.append(StatusFinding(.runFailed(status: lastStatus, at: lastRun), keyset.reference, .rotateAll))
    }

    private func examineRotation(_ keyset: ExaminedKeyset) {
        let (reference, state, clock) = (keyset.reference, keyset.state, host.clock)
        let lastRun = keyset.history?.lastRun
        if let writer = state.writer, writer != host.name {
            late.append(StatusFinding(.otherWriter(writer), reference, .takeOver(reference)))
        } else if (lastRun ?? state.at) + statusPauseInSeconds < clock {
            late.append(StatusFinding(.notRun(last: lastRun), reference, .enableTimer))
        }
        let timeline = state.timeline
        let primary = timeline.primary(at: clock)
        guard timeline.primary(at: clock + Self.horizonInSeconds) != nil else {
            let ends = [primary?.lifecycle.retiresAt, primary?.lifecycle.expiresAt].compactMap(\.self)
            return late.append(StatusFinding(.noKeySeals(from: ends.min() ?? clock), reference, .rotate(reference)))
        }
        let plan = RotationPlan(timeline, state.policy, at: clock)
        // Not before the last line: a restoration brings steps that were due long ago.
        if let step = plan.due.min(by: { $0.dueAt < $1.dueAt }),
            max(step.dueAt, state.at) + statusPauseInSeconds < clock
        {
            late.append(StatusFinding(.overdue(step.action, since: step.dueAt), reference, .rotate(reference)))
        } else if let step = plan.blocked.first, step.dueAt + Self.horizonInSeconds < clock {
            late.append(
                StatusFinding(.waiting(step.action.kid, since: step.dueAt), reference, .reportCoverage(reference)))
        }
    }

    /// The exit status of `rotate` where waiting helps.
    private static var waits: Int { 75 }
    private static var dayInSeconds: Int64 { 86_400 }
    /// A week.
    private static var horizonInSeconds: Int64 { 7 * dayInSeconds }
}

/// Causes and what follows from them.
extension StatusExamination {
    private func explain(_ faults: [StatusFinding]) {
        for var fault in faults {
            guard case .cannotWrite(_, let folders) = fault.facts else {
                findings.append(fault)
                continue
            }
            let stopsAll = places.history.map { folders.contains($0.path) } ?? false
            let all = keysets.map(\.reference)
            fault.keysets = stopsAll ? all : all.filter { folders.contains($0.location?.keystore ?? "") }
            let onlySets = fault.keysets.isEmpty && places.served.map(folders.contains) ?? false
            if onlySets { fault.keysets = all }
            add(fault, onlySets: onlySets)
        }
        for code in [StatusFinding.Code.clock, .otherWriter, .notRun] { add(all: code) }
        findings += late.filter { $0.severity == .critical }
        late.removeAll { $0.severity == .critical }
        // A run that has failed is a finding unless another one says why.
        let reasons = findings.filter { $0.severity == .critical }
        late += failures.filter { failure in
            !reasons.contains { $0.code == .clock || $0.keysets.isEmpty || $0.keysets.contains(failure.keysets[0]) }
        }
        add(all: .runFailed)
        findings += late
        uniteOwners()
    }

    /// Adds the causes of a code, as one if they have the same remedy.
    private func add(all code: StatusFinding.Code) {
        let causes = Dictionary(grouping: late.filter { $0.code == code }, by: \.remedy)
        late.removeAll { $0.code == code }
        for same in causes.values {
            var cause = same[0]
            cause.keysets = same.flatMap(\.keysets)
            add(cause)
        }
    }

    /// Adds a cause, or the worst of what follows from it in its keysets, with the cause's remedy.
    private func add(_ cause: StatusFinding, onlySets: Bool = false) {
        func follows(_ effect: StatusFinding) -> Bool {
            effect.keysets.allSatisfy(cause.keysets.contains)
                && (!onlySets || [.served, .unpublished].contains(effect.code))
        }
        let effects = late.filter(follows)
        late.removeAll(where: follows)
        let worst = effects.min().flatMap { $0.severity.rawValue < cause.severity.rawValue ? $0 : nil }
        var finding = worst ?? cause
        finding.remedy = cause.remedy
        findings.append(finding)
    }

    /// A keystore of another user is one finding.
    private func uniteOwners() {
        var places: [UInt32: [String]] = [:]
        for case .otherUser(let owner, let paths) in findings.map(\.facts) { places[owner, default: []] += paths }
        findings.removeAll { $0.code == .otherUser }
        findings += places.map { StatusFinding(.otherUser($0, paths: Set($1).sorted()), nil, .runAs($0)) }
    }
}

extension HistoryFolder {
    /// The keysets that the host has seen.
    ///
    /// - Throws: `FileError`, also with `foreignOwner`, `looseMode`.
    func ids() throws -> [KeysetID] {
        guard FileSystem.exists(path) else { return [] }
        let folder = try Folder(path)
        try folder.check(.ownerOnly)
        return try folder.names().compactMap { KeysetID($0.utf8) }
    }
}

extension StatusFinding {
    /// - Parameters:
    ///   - error: what reading has thrown.
    ///   - remedy: for a damaged file.
    init(_ error: any Error, reading path: String, _ keyset: KeysetReference?, ifDamaged remedy: Remedy) {
        switch error {
        case let error as KeysetFileError:
            self.init(error.cause, reading: error.path, keyset, ifDamaged: remedy)
        case let error as KeysetLogError where error.code == .unsupportedVersion:
            self.init(.unreadable(path: path, .log(error)), keyset, .update)
        case let error as KeysetLogError where [.wrongSecret, .secretNeeded].contains(error.code):
            self.init(.unreadable(path: path, .log(error)), keyset, keyset.map(Remedy.giveSecret) ?? remedy)
        case let error as KeysetLogError:
            self.init(.damaged(path: path, error), keyset, remedy)
        case let error as FileError where error.owner.map { $0 != FileSystem.ownUser } ?? false:
            let owner = error.owner ?? 0
            self.init(.otherUser(owner, paths: [path]), nil, .runAs(owner))
        case let error as FileError where error.code == .looseMode:
            self.init(.openToOthers(path: error.path), keyset, .makePrivate(path: error.path))
        case let error as FileError where error.code == .notFound:
            self.init(.missing(path: error.path), keyset, .inspect(path: error.path))
        case let error as FileError:
            self.init(.unreadable(path: error.path, .file(error)), keyset, .inspect(path: error.path))
        case let error as KeystoreError:
            self.init(.unreadable(path: path, .secret(error)), keyset, keyset.map(Remedy.giveSecret) ?? remedy)
        default:
            self.init(.unreadable(path: path, .other(type: "\(type(of: error))")), keyset, .inspect(path: path))
        }
    }
}
