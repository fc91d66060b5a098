import PushCryptCore
import PushCryptFiles
package import PushCryptKeysets
import PushCryptPrimitives

/// A copy of a keyset, and the log that it continues.
struct RestoredKeyset {
    let path: String
    let copy: KeysetFile
    /// The longer one of the log in the folder and the log of the backup.
    let lines: [String]
    let later: LaterChanges
    let present: PresentKeyset

    /// - Throws: `KeystoreError` with `otherHistory` if neither log continues the other, `notFound` if there is no copy.
    init(_ path: String, _ present: PresentKeyset, _ backup: BackedUpKeyset?) throws {
        self.path = path
        self.present = present
        guard let copy = backup?.file ?? present.file else {
            throw KeystoreError(
                .notFound, "\(path) has no keyset.json that can be read; name a backup with --from FILE")
        }
        self.copy = copy
        let (own, other) = (present.lines, backup?.log.lines ?? present.lines)
        let count = min(own.count, other.count)
        guard own.prefix(count) == other.prefix(count) else { throw Self.otherHistory(path, own, other) }
        lines = own.count > count ? own : other
        later = LaterChanges(lines.dropFirst(Int(copy.metadata.audit.count)).compactMap(AuditEntry.init))
    }

    private static func otherHistory(_ path: String, _ own: [String], _ other: [String]) -> KeystoreError {
        let first = own.first.flatMap(AuditEntry.init)
        if let first, first.what == AuditEvent.Action.logRestarted.rawValue, own.first != other.first {
            return KeystoreError(
                .otherHistory,
                "\(path): a new log was started at \(first.at), after the backup, which has the old log: it can't be restored "
                    + "over this folder")
        }
        return KeystoreError(
            .otherHistory,
            "\(path): the backup and the audit log in the folder have different histories. They are two keysets, two "
                + "hosts changed copies of one, or an older backup was restored here, and the keyset was changed since")
    }

    /// Whether the folder's log ends before the copy, or before the change that wrote another file.
    private var lacksLog: Bool { present.lines.count < copy.metadata.audit.count || hasLaterFile }

    private var hasLaterFile: Bool {
        later.entries.isEmpty
            && present.derivedSequence > max(copy.metadata.sequence, present.file?.metadata.sequence ?? 0)
    }

    /// Since when changes are unknown, because no log continues after the backup; nil if one does. The log of an interrupted
    /// restoration says that it was lost.
    private var unknownChanges: String? {
        guard lacksLog || later.entries.first?.isLogLost == true else { return nil }
        return copy.metadata.timeline.updatedAt.map { "after \($0)" } ?? "since the backup"
    }

    /// What is not repeated if no log continues after the backup.
    ///
    /// - Parameter secretArguments: as in `SecretSource.arguments`.
    func forgotten(_ secretArguments: String) -> String? {
        guard let unknownChanges else { return nil }
        let log =
            if present.lines.isEmpty {
                "no audit log"
            } else if hasLaterFile {
                "an audit log that ends before the change of another file"
            } else if lacksLog {
                "an audit log that ends before the backup"
            } else {
                "an audit log without the changes after the backup"
            }
        let publication =
            copy.metadata.signedSet.map { _ in
                "; if a set with a higher seq was published, raise seq with "
                    + "`pushcrypt keys policy \(ShellArgument.quoted(path)) --publish-seq N\(secretArguments)`"
            } ?? ""
        let isPublisher = copy.metadata.kind == .publisher
        // `status` of the keystore of senders doesn't examine the publishers that sign.
        let status = isPublisher ? "pushcrypt status \(ShellArgument.quoted(path))" : "pushcrypt status"
        return
            "\(path): the folder has \(log), so this restores keys that were revoked or destroyed \(unknownChanges): "
            + "\(isPublisher ? "destroy" : "revoke") them again\(publication). `\(status)` reports this as an error until you confirm it: "
            + "`\(AuditLog.confirmCommand(path, secretArguments))`"
    }

    /// That the restored keyset has an earlier secret; nil if it has the same one.
    ///
    /// - Parameter secretArguments: as in `SecretSource.arguments`.
    private func earlierSecret(_ secretArguments: String) -> String? {
        guard later.entries.contains(where: { $0.what == AuditEvent.Action.protectionChanged.rawValue }) else {
            return nil
        }
        return
            "\(path): its secrets were changed after the copy, and the restored keyset has those of the copy again: to change "
            + "them again: `pushcrypt keys passwd \(ShellArgument.quoted(path))\(secretArguments)`"
    }

    /// Whether the keyset in the folder is the copy, as new as its log, and stays with its host.
    func isCurrent(_ writer: String?) -> Bool {
        later.entries.isEmpty && !hasLaterFile && present.file?.metadata == copy.metadata
            && (writer == nil || writer == copy.metadata.writer)
    }

    /// - Returns: also the lines of the log that the keyset continues. They say that the folder's log was lost, so that a
    ///   restoration which is killed before it writes the keyset and repeated says it too.
    func made(
        goesBack: Bool, _ writer: String?, at time: UnixTime, confirmsClock: Bool, by actor: Actor,
        _ secret: SecretSource
    ) throws -> (Restoration, StoredKeyset, lines: [String]) {
        let writer = try writer ?? ownWriter(actor)
        var stored = try copy.unlocked(secret, evenIfOlder: true)
        let times =
            [copy.metadata, present.file?.metadata].compactMap { $0?.timeline.updatedAt } + later.entries.map(\.at)
        stored.metadata.timeline.updatedAt = times.max()
        let lost = try lostChanges(goesBack: goesBack, stored.metadata, at: time)
        let unknown = AuditEvent.unknownChanges(since: copy.metadata.timeline.updatedAt)
        let logLost = lacksLog ? AuditEvent(.logLost, detail: unknown) : nil
        let lostLines = try AuditLog.head(
            after: AuditLog(lines: lines).head(), events: [logLost].compactMap(\.self), actor: actor, at: time
        ).lastLines
        let lines = lines + lostLines
        stored.metadata.audit = try AuditLog(lines: lines).head()
        stored.metadata.sequence = sequence
        var editor = KeysetEditor(stored, at: time, confirmsClock: confirmsClock)
        try editor.restore(later, source, lost)
        if let writer { editor.handOver(to: writer) }
        let finished = try editor.finished(by: actor, at: path)
        let notices = [
            takeover(by: finished.metadata.writer), forgotten(secret.arguments), earlierSecret(secret.arguments),
        ].compactMap(\.self)
        let events = [logLost].compactMap(\.self) + editor.events
        return (Restoration(metadata: finished.metadata, events: events, lost: lost, notices: notices), finished, lines)
    }

    /// What the log calls the copy.
    var source: String { "the copy of seq \(copy.metadata.sequence)" }

    /// This host; nil if the copy records none, which the first change does. A keyset that is lost or damaged can be restored
    /// on every host. If there is one that can be read, its host may still change it.
    ///
    /// - Throws: `LifecycleError` with `blocked` on another host.
    private func ownWriter(_ actor: Actor) throws(LifecycleError) -> String? {
        let recorded = present.file?.metadata.writer ?? (actor.writer == nil ? copy.metadata.writer : nil)
        try Writer.require(recorded, actor, path, remedy: "add --writer this")
        return copy.metadata.writer == nil ? nil : actor.writer
    }

    /// What a restoration says that gives the keyset to another host.
    private func takeover(by writer: String?) -> String? {
        guard let writer, let former = present.file?.metadata.writer ?? copy.metadata.writer, former != writer else {
            return nil
        }
        return "\(path): \(writer) changes the restored keyset from now on, and \(former) no longer: stop that host"
    }

    /// Each change raised `seq` by 1, or to the number that `keys policy --publish-seq` gave.
    private var sequence: Int64 {
        let highest = copy.metadata.sequence + Int64(later.entries.count)
        let given = later.entries.compactMap { $0.detail.flatMap(KeysetEditor.raisedSequence) }
        return max(highest, present.derivedSequence, present.file?.metadata.sequence ?? 0, given.max() ?? 0)
    }

    /// - Throws: `KeystoreError` with `olderThanLog` unless `goesBack`.
    private func lostChanges(goesBack: Bool, _ metadata: KeysetMetadata, at time: UnixTime) throws -> [String] {
        let later = LaterChanges(later.entries.filter { !$0.isLogLost })
        // An earlier restoration repeated them too.
        let repeated = Set(later.givenUp(in: metadata).map(\.kid.description))
        let lost = later.entries.filter { entry in
            !(["revoked", "destroyed"].contains(entry.what) && entry.kid.map(repeated.contains) == true)
        }.map(\.summary)
        guard !goesBack, !later.entries.isEmpty else { return lost }
        func list(_ texts: [String]) -> String { texts.isEmpty ? "none" : texts.joined(separator: "; ") }
        throw KeystoreError(
            .olderThanLog,
            "\(path): the copy of seq \(copy.metadata.sequence) is older than the audit log. Changes that would be lost: "
                + "\(list(lost)). Changes that would be repeated: \(list(later.givenUp(in: metadata).map(\.entry.name))). "
                + (wrongClock(metadata, at: time) ?? "To restore it anyway, add --back-in-time"))
    }

    /// What to do about later changes that have a time in the future; nil if they have none. To repeat what was destroyed under a
    /// wrong clock would destroy good keys.
    private func wrongClock(_ metadata: KeysetMetadata, at time: UnixTime) -> String? {
        guard let objection = metadata.timeline.clockIsBehind(at: time) else { return nil }
        return "But \(objection). If the clock is right, these changes were made under a wrong clock: see "
            + "docs/runbooks/wrong-clock.md"
    }
}

extension AuditEntry {
    /// Whether the line says that a log was lost. It changes no key.
    fileprivate var isLogLost: Bool { what == AuditEvent.Action.logLost.rawValue }

    /// `revoked KID at TIME`
    fileprivate var name: String {
        let action = AuditEvent.Action(rawValue: what)?.text ?? what
        return [action, kid, "at \(at)"].compactMap(\.self).joined(separator: " ")
    }

    /// With the detail of the change. That of an earlier restoration has its own lost changes, which the log has too.
    fileprivate var summary: String {
        guard let detail, what != AuditEvent.Action.restored.rawValue else { return name }
        return "\(name) (\(AuditEvent.text(ofDetail: detail)))"
    }
}

extension KeysetEditor {
    /// Logs that a copy was restored, and repeats what the log revokes and destroys after it.
    mutating func restore(_ later: LaterChanges, _ source: String, _ lost: [String]) throws {
        let loses = lost.isEmpty ? "" : "; loses: " + lost.joined(separator: "; ")
        events.append(AuditEvent(.restored, detail: source + loses))
        for (kid, entry) in later.givenUp(in: metadata) { try giveUp(kid, isDestroyed: entry.what == "destroyed") }
    }

    /// Logs that an operator has revoked again what was revoked after a copy that had no log after it.
    package mutating func confirm(restoration entry: AuditEntry) {
        events.append(AuditEvent(.restoreConfirmed, detail: "of \(entry.at)"))
    }

    /// The copy may still seal with the key, and then another key seals in the same step.
    private mutating func giveUp(_ kid: KeyID, isDestroyed: Bool) throws {
        if metadata.kind == .publisher {
            if metadata.timeline.keys.count(where: { $0.lifecycle.destroyedAt == nil }) == 1 {
                try add(activatesAt: nil)
            }
        } else if !isDestroyed || metadata.timeline.state(of: kid, at: now) == .primary {
            try revoke(kid)
        }
        if isDestroyed { try destroy(kid, force: true) }
    }
}
