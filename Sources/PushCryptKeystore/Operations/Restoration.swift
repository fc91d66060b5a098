import PushCryptCore
package import PushCryptKeysets
import PushCryptPrimitives

/// The one command after a mishap.
extension KeystoreHost {
    /// Continues the longest authentic log, with the material of all files. It converges: if that log is in place already and
    /// nothing is given up or found again, nothing is written.
    ///
    /// - Parameters:
    ///   - path: where the keyset stands afterwards. Other files of the id in its keystore are removed.
    ///   - files: authentic files of one id; the ones in the keystore are added.
    ///   - histories: of other hosts.
    ///   - publishers: the keysets whose signatures count.
    ///   - others: keysets whose logs may name a point of this one.
    ///   - agrees: whether a person gives this up. Nothing is locked while one is asked. A set without a signature that a person
    ///     doesn't agree to counts as not there.
    /// - Throws: `KeystoreRefusal` with `missing`, `choiceNeeded`, `clockAhead`, `exists` if the path is another keyset's.
    @discardableResult
    package func restore(
        _ path: String, _ files: [OpenedKeyset], histories: [KeysetHistory] = [], publishers: [OpenedKeyset] = [],
        others: [KeysetLog] = [], agrees: (KeystoreRefusal.GivenUp) throws -> Bool
    ) throws -> OpenedKeyset {
        var answers: [KeystoreRefusal.GivenUp: Bool] = [:]
        while true {
            do {
                return try restore(path, files, histories, publishers, others, answers)
            } catch KeystoreRefusal.choiceNeeded(let what) {
                // What has changed meanwhile is read and asked in the next round.
                let isAgreed = try agrees(what)
                guard isAgreed || what.isOptional else { throw KeystoreRefusal.choiceNeeded(what) }
                answers[what] = isAgreed
            }
        }
    }

    /// - Parameter answers: what a person said. Nothing is changed if more must be asked.
    private func restore(
        _ path: String, _ files: [OpenedKeyset], _ histories: [KeysetHistory], _ publishers: [OpenedKeyset],
        _ others: [KeysetLog], _ answers: [KeystoreRefusal.GivenUp: Bool]
    ) throws -> OpenedKeyset {
        guard let id = files.first?.state.id else { throw KeystoreRefusal.missing(path: path) }
        let locked = try storage.lock(path)
        let copies = try locked.others(of: id, than: path)
        let inPlace = try authentic(path, locked)
        guard inPlace.map({ $0.state.id == id }) ?? true else { throw KeystoreRefusal.exists(path: path) }
        let present = try [inPlace].compactMap(\.self) + copies.compactMap { try authentic($0, locked) }
        // The secrets of the longest file are the last ones.
        let all = (files + present).filter { $0.state.id == id }.sorted { $0.log.lines.count > $1.log.lines.count }
        let historyKey = all[0].material.historyKey
        let history = try hasDamagedHistory(of: id) ? nil : storage.history(of: id)
        let seen = ([history].compactMap(\.self) + histories).filter {
            $0.log.state.id == id && (!KeystoreRule.historyMAC.isOn || $0.isAuthentic(historyKey))
        }
        var restoration = LogRestoration(logs: all.map(\.log) + seen.map(\.log), answers)
        if case .ahead(let last)? = clockFault(restoration.longest.state, lastRun: history?.lastRun) {
            throw KeystoreRefusal.clockAhead(last: last)
        }
        try restoration.giveUpLogs()
        // Also of epochs that the longest log doesn't know.
        for served in try servedAhead(of: restoration.longest) {
            let isSigned = try served.isSigned(byOneOf: publishers.flatMap { $0.material.records.values })
            try restoration.giveUp(served, isSigned: isSigned || !KeystoreRule.restoreSigned.isOn, at: clock)
        }
        for case let point? in others.map({ $0.state.publisherPoints[id] }) { try restoration.giveUp(named: point) }
        let longest = restoration.longest
        let isInPlace = inPlace?.log.bytes == longest.bytes
        var material = all[0].material
        for keyset in all { material.records.merge(keyset.material.records) { first, _ in first } }
        let time = max(clock, longest.state.at)
        let longestFile = FoundKeyset(longest) { [material] in material }
        let restored = try append(
            .restored, to: LockedKeyset(path: path, files: locked, found: longestFile, history: history), at: time,
            number: restoration.number, isOrdinary: false, isNeeded: !isInPlace
        ) { draft in
            restoration.write(to: &draft, material: Set(material.records.keys))
            if longest.state.writer != name { draft.changes.writer = name }
            let secrets = material.secrets?.names ?? []
            if secrets != longest.state.secrets { draft.changes.secrets = secrets }
        }
        for copy in copies { try locked.remove(copy) }
        return restored
    }

    /// Whether the history is damaged: for a restoration it counts as not there.
    package func hasDamagedHistory(of id: KeysetID) throws -> Bool {
        do {
            _ = try storage.history(of: id)
            return false
        } catch let error as KeysetFileError where error.cause.code != .unsupportedVersion { return true }
    }

    /// A file that is damaged or not authentic counts as not there. One whose secret isn't at hand is kept: its keys are in no
    /// other file, perhaps.
    private func authentic(_ path: String, _ files: Storage.Locked) throws -> OpenedKeyset? {
        do {
            return try files.keyset(path)?.opened()
        } catch let error as KeysetFileError
            where ![.secretNeeded, .wrongSecret, .unsupportedVersion].contains(error.cause.code)
        {
            return nil
        }
    }
}

extension KeystoreRefusal.GivenUp {
    /// Whether the restoration goes on without it, as if it weren't there.
    fileprivate var isOptional: Bool { if case .unsignedSet = self { true } else { false } }
}

/// What a restoration continues and what it gives up.
private struct LogRestoration {
    let longest: KeysetLog
    private let logs: [KeysetLog]
    private let answers: [KeystoreRefusal.GivenUp: Bool]
    private var over: Set<LogPoint> = []
    private var revoked: [KeyID: UnixTime] = [:]
    private var highest: Int64
    private var issuedAt: UnixTime?

    /// - Parameter logs: at least one.
    init(logs: [KeysetLog], _ answers: [KeystoreRefusal.GivenUp: Bool]) {
        self.logs = logs
        self.answers = answers
        longest = logs.max { $0.lines.count < $1.lines.count }!
        highest = longest.state.head.number
        issuedAt = longest.state.issuedAt
    }

    var number: Int64 { (KeystoreRule.numberAbove.isOn ? highest : longest.state.head.number) + 1 }

    /// - Returns: whether a person agrees; only what is optional is refused here.
    private func ask(_ what: KeystoreRefusal.GivenUp) throws(KeystoreRefusal) -> Bool {
        if let answer = answers[what] { return answer }
        guard !KeystoreRule.overAsks.isOn else { throw .choiceNeeded(what) }
        return !what.isOptional
    }

    mutating func giveUpLogs() throws(KeystoreRefusal) {
        // One that extends another has the higher number and comes first: one choice gives up both.
        let sorted = logs.sorted { $0.state.head.number > $1.state.head.number }
        for log in sorted where !longest.bytes.starts(with: log.bytes) {
            if !longest.extends(log), !over.contains(log.state.head) { _ = try ask(.log(log.state.head)) }
            highest = max(highest, log.state.head.number)
            note(log.state.issuedAt)
            let points = KeystoreRule.overLines.isOn ? log.allPoints : [log.state.head]
            over.formUnion(points.filter { !longest.extends($0) })
            guard KeystoreRule.restoreLogs.isOn else { continue }
            for (kid, time) in log.state.revocations { note(kid, time) }
        }
    }

    mutating func giveUp(_ served: ServedDocument, isSigned: Bool, at clock: UnixTime) throws(KeystoreRefusal) {
        if !over.contains(served.head) {
            let known = longest.state.revocations
            let revokes = served.revoked.keys.filter { kid in
                known[kid] == nil && revoked[kid] == nil && (isSigned || longest.state.key(kid) != nil)
            }.sorted()
            let what: KeystoreRefusal.GivenUp =
                isSigned
                ? .servedSet(epoch: served.epoch, served.head, revokes: revokes)
                : .unsignedSet(epoch: served.epoch, served.head, revokes: revokes)
            guard try ask(what) else { return }
        } else if !isSigned {
            // A log has the lines of its head.
            return
        }
        over.insert(served.head)
        // Without a signature it may have a number after which no line has room, and a time that no clock reaches.
        if isSigned || served.head.number < longest.state.head.number + 1 << 20 {
            highest = max(highest, served.head.number)
        }
        if isSigned || served.issuedAt <= clock { note(served.issuedAt) }
        guard KeystoreRule.restoreServed.isOn else { return }
        for (kid, time) in served.revoked where isSigned || longest.state.key(kid) != nil { note(kid, time) }
    }

    mutating func giveUp(named point: LogPoint) throws(KeystoreRefusal) {
        guard !longest.extends(point), !over.contains(point) else { return }
        _ = try ask(.namedPoint(point))
        over.insert(point)
        highest = max(highest, point.number)
    }

    private mutating func note(_ time: UnixTime?) {
        if let time, issuedAt.map({ $0 < time }) ?? true { issuedAt = time }
    }

    private mutating func note(_ kid: KeyID, _ time: UnixTime) {
        revoked[kid] = min(time, revoked[kid] ?? time)
    }

    /// - Parameter material: the keys of which a file has the material.
    func write(to draft: inout KeysetDraft, material: Set<KeyID>) {
        draft.changes.over = over.sorted { $0.number < $1.number }
        if issuedAt != longest.state.issuedAt { draft.changes.issuedAt = issuedAt }
        for key in longest.state.keys where key.lifecycle.destroyedAt == nil {
            let isLost = !material.contains(key.kid)
            guard isLost != key.isLost else { continue }
            if KeystoreRule.lost.isOn {
                draft.setLost(isLost, key)
            } else {
                draft.set(.destroyedAt, of: key.kid, to: draft.now)
            }
        }
        let known = longest.state.revocations
        for (kid, time) in revoked.sorted(by: { $0.key < $1.key }) where known[kid] == nil {
            draft.keepRevocation(of: kid, at: time)
        }
    }
}
