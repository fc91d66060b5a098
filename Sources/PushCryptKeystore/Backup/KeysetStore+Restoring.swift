package import PushCryptCore
import PushCryptFiles
package import PushCryptKeysets
import PushCryptPrimitives

extension KeystoreError.Code {
    /// The log of a backup and the log in the folder contain different changes.
    package static let otherHistory = KeystoreError.Code(name: "otherHistory")
    /// The keyset was restored without its later log, and no operator has confirmed the restoration.
    package static let unconfirmedRestoration = KeystoreError.Code(name: "unconfirmedRestoration")
}

/// What a restored copy becomes.
package struct Restoration: Sendable {
    /// The keyset afterwards, or as it is if nothing has to be done.
    package let metadata: KeysetMetadata
    /// Empty if nothing has to be done.
    package let events: [AuditEvent]
    /// The later changes of the log that the copy doesn't have and that are not repeated.
    package let lost: [String]
    package let notices: [String]
    /// Whether the keyset's last change restored this copy, so that nothing has to be done.
    package var isRepeated = false
}

extension KeysetStore {
    /// Replaces the keyset by an earlier copy, and repeats the revocations and destructions that the log has after it. The log
    /// continues; `seq` rises above that of the copy and of the keyset, so that processes and apps accept it.
    ///
    /// ```
    /// lock the folder, read; check that the copy and the log have one history
    /// save the present keyset.json under another name
    /// write the longer log, if the backup has it
    /// write, publish, log as every change
    /// ```
    /// After a crash before the last step the keyset is as old as before, or older than its log. Then the same call completes
    /// the restoration.
    ///
    /// - Parameters:
    ///   - backup: nil if the keyset in the folder is the copy.
    ///   - goesBack: whether later changes may be lost.
    ///   - isDryRun: whether to write nothing.
    ///   - writer: the host that changes the restored keyset; nil for this host, which may not take a keyset over that
    ///     another one changes.
    ///   - confirmsClock: as for a change.
    ///   - secret: of the copy. A person is asked before the lock is taken.
    /// - Throws: `KeystoreError` with `olderThanLog` if later changes would be lost and `goesBack` is false, `otherHistory`,
    ///   `auditBroken`; `LifecycleError` with `blocked` over a keyset of another host.
    package func restore(
        _ backup: BackedUpKeyset?, goesBack: Bool, isDryRun: Bool = false, writer: String? = nil, at time: UnixTime,
        confirmsClock: Bool = false,
        by actor: Actor, _ secret: SecretSource
    ) throws -> Restoration {
        let secret = try (backup?.file ?? folder.file(secret.arguments)).answered(secret, evenIfOlder: true)
        func restored(_ present: PresentKeyset) throws -> RestoredKeyset {
            try RestoredKeyset(folder.path, present, backup)
        }
        guard FileSystem.exists(folder.path) else {
            let keyset = try restored(.none)
            let (restoration, stored, lines) = try keyset.made(
                goesBack: goesBack, writer, at: time, confirmsClock: confirmsClock, by: actor, secret)
            return isDryRun ? restoration.planned : try make(stored, after: lines, restoration)
        }
        return try withLock { folder in
            let present = try PresentKeyset(self.folder, in: folder, secret.arguments)
            let keyset = try restored(present)
            guard !keyset.isCurrent(writer) else {
                let metadata = try keyset.copy.metadata(secret, evenIfOlder: true)
                return Restoration(metadata: metadata, events: [], lost: [], notices: [])
            }
            if backup != nil, let stored = try keyset.restoredEarlier(writer, secret) {
                let notices = isDryRun ? [] : try finishInterruptedChange(folder, stored, secret.arguments)
                return keyset.repeated(stored.metadata, secret.arguments).adding(notices)
            }
            let (restoration, stored, lines) = try keyset.made(
                goesBack: goesBack, writer, at: time, confirmsClock: confirmsClock, by: actor, secret)
            return isDryRun ? restoration.planned : try replace(present, stored, after: lines, restoration, folder)
        }
    }

    /// Says that the keyset was restored without its later log and isn't confirmed, so that it may use revoked keys; nil otherwise.
    package func unconfirmedRestoration(_ secretArguments: String) throws -> String? {
        try KeystoreError.convertingFileErrors {
            let opened = try Folder(folder.path)
            let log = try folder.auditLog(in: opened)
            // Nearly no log has such a line, and the chain of a long log takes time.
            guard log.lines.contains(where: { $0.contains(AuditEvent.Action.logLost.rawValue) }) else { return nil }
            let metadata = try folder.file(in: opened, secretArguments).metadata
            guard let entry = log.unconfirmedRestoration(metadata.audit) else { return nil }
            let verb = metadata.kind == .publisher ? "Destroy" : "Revoke"
            return
                "\(folder.path) continues since \(entry.at) without the log of what came before, so keys that were revoked or "
                + "destroyed may be in use again. \(verb) these again, then confirm it: "
                + "`\(AuditLog.confirmCommand(folder.path, secretArguments))`"
        }
    }

    func auditLog() throws -> AuditLog {
        try KeystoreError.convertingFileErrors { try folder.auditLog(in: Folder(folder.path)) }
    }

    /// A keyset that was restored without the log of what came after it, or that is older than a file beside it, may use a revoked
    /// key. Nothing publishes it before an operator has revoked these keys again.
    ///
    /// - Throws: `KeystoreError` with `unconfirmedRestoration`, `olderThanLog`.
    package func requirePublishable(_ secretArguments: String) throws {
        try KeystoreError.convertingFileErrors {
            let opened = try Folder(folder.path)
            try folder.file(in: opened, secretArguments).requireNewest(secretArguments)
        }
        guard let reason = try unconfirmedRestoration(secretArguments) else { return }
        throw KeystoreError(.unconfirmedRestoration, "\(reason); until then no set is signed or published")
    }

    private func make(
        _ stored: StoredKeyset, after lines: [String], _ restoration: Restoration
    ) throws -> Restoration {
        let notices = try publishFolder { folder in
            try folder.replace(KeysetFolder.auditName, with: AuditLog.bytes(of: lines)) {
                FaultPoint.reach("restore-log-\($0)")
            }
            let store = KeysetStore(folder.path)
            try store.writeKeyset(stored, folder)
            try store.writeRest(stored, store.changedPublic(stored, folder), folder)
        }
        return restoration.adding(notices)
    }

    private func replace(
        _ present: PresentKeyset, _ stored: StoredKeyset, after lines: [String], _ restoration: Restoration,
        _ folder: Folder
    ) throws -> Restoration {
        var notices = try discardLeftovers(folder)
        if var bytes = present.bytes {
            defer { wipe(&bytes) }
            notices.append(try save(bytes, Self.replacedKeysetPrefix, ".json", folder))
        }
        if present.hasTornLog { notices.append(try save(present.logBytes, Self.brokenLogPrefix, ".jsonl", folder)) }
        if present.logBytes != AuditLog.bytes(of: lines) {
            try folder.replace(KeysetFolder.auditName, with: AuditLog.bytes(of: lines)) {
                FaultPoint.reach("restore-log-\($0)")
            }
        }
        try write(stored, folder)
        return restoration.adding(notices)
    }

    static let replacedKeysetPrefix = "keyset.replaced-"

    /// Saves what is replaced. The name is made of its hash, so that a call that continues after a crash saves it once.
    private func save(_ bytes: [UInt8], _ prefix: String, _ suffix: String, _ folder: Folder) throws -> String {
        let digest = try KeysetFile.digest(bytes[...])
        let name = prefix + Base64URL.encode(digest).prefix(FileSystem.randomNameCharacterCount) + suffix
        try folder.replace(name, with: bytes) { FaultPoint.reach("restore-save-\($0)") }
        return "\(folder.path): what was replaced is in \(name)"
    }
}

extension Restoration {
    /// Without the ids of new keys: the restoration makes other keys than its dry run.
    fileprivate var planned: Restoration {
        let events = events.map { $0.action == .added ? AuditEvent(.added, detail: $0.detail) : $0 }
        return Restoration(metadata: metadata, events: events, lost: lost, notices: notices)
    }

    fileprivate func adding(_ notices: [String]) -> Restoration {
        Restoration(
            metadata: metadata, events: events, lost: lost, notices: self.notices + notices, isRepeated: isRepeated)
    }
}
