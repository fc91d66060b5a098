package import PushCryptCore
import PushCryptFiles
package import PushCryptKeysets

extension KeysetStore {
    /// Finishes or discards an interrupted change before another change.
    ///
    /// - Returns: messages about the files that were written or removed.
    /// - Throws: `KeystoreError` with `auditBroken` if the state of the log can't come from a crash.
    func finishInterruptedChange(
        _ folder: Folder, _ stored: StoredKeyset, _ secretArguments: String
    ) throws -> [String] {
        var notices = try discardLeftovers(folder)
        let log = try requireUnbrokenLog(folder, stored.metadata, secretArguments)
        notices += try finishLog(log, folder, stored.metadata.audit)
        if try writePublic(changedPublic(stored, folder), folder) { notices.append(Self.publicNotice(folder)) }
        return notices
    }

    /// A keyset that is older than its log is refused when it is unlocked, and not here.
    ///
    /// - Throws: `KeystoreError` with `auditBroken` if the state of the log can't come from a crash.
    @discardableResult
    func requireUnbrokenLog(
        _ folder: Folder, _ metadata: KeysetMetadata, _ secretArguments: String
    ) throws -> AuditLog {
        let log = try self.folder.auditLog(in: folder)
        guard case .broken(let flaw) = log.condition(metadata.audit) else { return log }
        let path = self.folder.path
        let keystore = FileSystem.parent(of: path)
        if let other = PublishedKeyset(path, "").neighbours.first(where: { log.belongs(to: $0.metadata.audit) })?.path {
            throw KeystoreError(
                .auditBroken,
                "\(path): the audit log is that of \(other): a file of the two keysets was exchanged. `pushcrypt status "
                    + "\(ShellArgument.quoted(keystore.isEmpty ? "." : keystore))` names the file, and prints the command that exchanges it again"
            )
        }
        throw KeystoreError(
            .auditBroken,
            "\(folder.path): \(flaw); \(AuditLog.restartAdvice(folder.path, secretArguments))")
    }

    /// As above, for a change that is only prepared: without the lock.
    package func requireUnbrokenLog(_ metadata: KeysetMetadata, _ secretArguments: String) throws {
        try KeystoreError.convertingFileErrors {
            _ = try requireUnbrokenLog(Folder(folder.path), metadata, secretArguments)
        }
    }

    /// Finishes or discards an interrupted change. Doesn't change a file whose state can't come from a crash, so that an
    /// operator can examine it.
    ///
    /// - Parameter secret: without it, `public.jwks.json` is not written for encrypted keys. With it, the keyset is
    ///   authenticated before anything is written.
    /// - Returns: messages about the files that were written or removed.
    package func finish(_ secret: SecretSource) throws -> [String] {
        try withLock { folder in
            let file = try self.folder.file(in: folder, secret.arguments)
            guard file.isNewest else { return try discardLeftovers(folder) }
            let stored = file.protection == .plaintext || secret.isGiven ? try file.unlocked(secret) : nil
            var notices = try discardLeftovers(folder)
            notices += try finishLog(self.folder.auditLog(in: folder), folder, file.metadata.audit)
            guard let stored else { return notices }
            let name = KeysetFolder.publicName
            let published = folder.has(name) ? try folder.read(name).bytes : nil
            let condition = PublicCondition(published, stored.metadata, stored.records)
            if condition.isUnfinished, !DemoKeys.covers(Array(stored.records.keys)),
                try writePublic(changedPublic(stored, folder), folder)
            {
                notices.append(Self.publicNotice(folder))
            }
            return notices
        }
    }

    func discardLeftovers(_ folder: Folder) throws -> [String] {
        try folder.leftovers().map { name in
            try folder.remove(name)
            FaultPoint.reach("leftover-removed")
            return "\(folder.path): discarded \(name), which an interrupted change had not finished"
        }
    }

    private func finishLog(_ log: AuditLog, _ folder: Folder, _ head: AuditHead) throws -> [String] {
        guard case .interrupted(let missing) = log.condition(head) else { return [] }
        try folder.replace(KeysetFolder.auditName, with: AuditLog.bytes(of: log.lines + missing)) {
            FaultPoint.reach("log-\($0)")
        }
        let lines = "\(missing.count) missing line\(missing.count == 1 ? "" : "s")"
        return ["\(folder.path): wrote \(lines) of the audit log, which an interrupted change had not finished"]
    }

    private static func publicNotice(_ folder: Folder) -> String {
        "\(folder.path): wrote \(KeysetFolder.publicName) again from the keyset"
    }

    static let brokenLogPrefix = "audit.broken-"

    /// Renames a broken audit log and starts a new one, whose first line contains the reason.
    ///
    /// - Parameters:
    ///   - confirmsClock: whether an operator has confirmed a clock that seems to be far ahead.
    ///   - secret: a person is asked before the lock is taken.
    /// - Returns: the new name of the old log; nil if the log isn't broken, and nothing was done.
    package func restartLog(
        at time: UnixTime, confirmsClock: Bool = false, by actor: Actor, _ secret: SecretSource
    ) throws -> String? {
        // A file of a later change beside a broken log is an error of `status` until an operator confirms that nothing is missing.
        try withKeyset(secret, evenIfOlder: true) { folder, stored in
            let log = try self.folder.auditLog(in: folder)
            guard case .broken(let flaw) = log.condition(stored.metadata.audit) else { return nil }
            var editor = KeysetEditor(stored, at: time, confirmsClock: confirmsClock)
            let oldName = "\(Self.brokenLogPrefix)\(FileSystem.randomName()).jsonl"
            editor.restartLog(oldName, flaw)
            let later = try self.folder.file(in: folder, secret.arguments).laterChanges
            if let unknown = unknownChanges(log, later, folder, stored.metadata) {
                let highest = max(
                    LaterFile.highestSequence(in: folder), stored.metadata.sequence + Int64(later?.entries.count ?? 0))
                editor.loseLog(unknown, highestSequence: highest)
            }
            let finished = try editor.finished(by: actor, at: folder.path)
            if folder.has(KeysetFolder.auditName) { try folder.rename(KeysetFolder.auditName, to: oldName) }
            FaultPoint.reach("log-set-aside")
            try write(finished, folder)
            return oldName
        }
    }
}

extension KeysetStore {
    /// The changes that the old log lacks, for the new one; nil if no file shows that there are any. An unconfirmed restoration stays
    /// unconfirmed.
    private func unknownChanges(
        _ log: AuditLog, _ later: LaterChanges?, _ folder: Folder, _ metadata: KeysetMetadata
    ) -> String? {
        // The end of a log can be whole that is broken before.
        if let later {
            let keys = later.givenUp(in: metadata).map { "; key \($0.kid) was \($0.entry.what) at \($0.entry.at)" }
            return AuditEvent.unknownChanges(since: metadata.timeline.updatedAt) + keys.joined()
        }
        if let entry = log.unconfirmedRestoration(metadata.audit) { return entry.detail ?? "changes are unknown" }
        // The keyset has the lines of its last change, also if the log is lost.
        let last = metadata.audit.lastLines.compactMap(AuditEntry.init(line:))
        if let entry = last.first(where: { $0.what == AuditEvent.Action.restored.rawValue }) {
            return "changes between the copy that was restored at \(entry.at) and that time are unknown"
        }
        guard LaterFile(in: folder, than: metadata) != nil else { return nil }
        return AuditEvent.unknownChanges(since: metadata.timeline.updatedAt)
    }
}

extension AuditEvent {
    /// The detail of `logLost`.
    static func unknownChanges(since time: UnixTime?) -> String {
        "changes \(time.map { "after \($0)" } ?? "since the backup") are unknown"
    }
}

extension AuditLog {
    /// What errors advise for a broken log.
    package static func restartAdvice(_ path: String, _ secretArguments: String) -> String {
        "find out why, then start a new log with this reason, which keeps the old one under another name: "
            + "`\(restartCommand(path, secretArguments))`"
    }

    /// What stands for the operator's reason in ``restartCommand(_:_:)``.
    package static let placeholderReason = "WHY"

    /// Replaces a broken log by a new one.
    ///
    /// - Parameter secretArguments: as in `SecretSource.arguments`.
    package static func restartCommand(_ path: String, _ secretArguments: String = "") -> String {
        "pushcrypt keys log \(ShellArgument.quoted(path)) --start-new --reason \(placeholderReason) --yes"
            + secretArguments
    }
}
