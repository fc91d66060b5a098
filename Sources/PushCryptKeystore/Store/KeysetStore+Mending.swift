import PushCryptCore
import PushCryptFiles
package import PushCryptKeysets

/// What a crash in the middle of a change left, and what becomes of it.
extension KeysetStore {
    /// Finishes or discards what an interrupted change left, before the next one.
    ///
    /// - Returns: what was done, for people.
    /// - Throws: `KeystoreError` with `auditBroken` where the log isn't what a crash can leave.
    func mend(_ folder: Folder, _ stored: StoredKeyset) throws -> [String] {
        var notices = try discardLeftovers(folder)
        let log = try self.folder.auditLog(in: folder)
        if case .broken(let flaw) = log.condition(stored.metadata.audit) {
            throw KeystoreError(
                .auditBroken,
                "\(folder.path): \(flaw); find out why, then `keys log --begin-anew` sets it aside and begins another")
        }
        notices += try finishLog(log, folder, stored.metadata.audit)
        if try writePublic(stored, folder) { notices.append(Self.publicNotice(folder)) }
        return notices
    }

    /// Finishes or discards what an interrupted change left and touches nothing else: what no crash leaves stays for
    /// somebody to look at.
    ///
    /// - Parameter secret: where it isn't given, `public.jwks.json` is not written for encrypted keys. Where it is, nothing
    ///   is done before the keyset is authenticated.
    /// - Returns: what was done, for people.
    /// - Throws: `KeystoreError`, `KeyError`.
    package func finish(_ secret: SecretSource) throws -> [String] {
        let folder = try lockedFolder()
        let file = try self.folder.file(in: folder)
        let stored = file.protection == .plaintext || secret.isGiven ? try file.unlocked(secret) : nil
        var notices = try discardLeftovers(folder)
        notices += try finishLog(self.folder.auditLog(in: folder), folder, file.metadata.audit)
        guard let stored else { return notices }
        let published = try KeystoreError.converting { () throws(FileError) in
            folder.has(KeysetFolder.publicName) ? try folder.read(KeysetFolder.publicName).bytes : nil
        }
        let condition = PublicCondition(published, stored.metadata, stored.records)
        if condition.isUnfinished, !DemoKeys.covers(Array(stored.records.keys)), try writePublic(stored, folder) {
            notices.append(Self.publicNotice(folder))
        }
        return notices
    }

    private func discardLeftovers(_ folder: Folder) throws(KeystoreError) -> [String] {
        try KeystoreError.converting { () throws(FileError) in
            try folder.leftovers().map { name throws(FileError) in
                try folder.remove(name)
                FaultPoint.reach("leftover-removed")
                return "\(folder.path): discarded \(name), which an interrupted change had not finished"
            }
        }
    }

    private func finishLog(_ log: AuditLog, _ folder: Folder, _ head: AuditHead) throws -> [String] {
        guard case .interrupted(let missing) = log.condition(head) else { return [] }
        try KeystoreError.converting { () throws(FileError) in
            try folder.replace(KeysetFolder.auditName, with: AuditLog.bytes(of: log.lines + missing)) {
                FaultPoint.reach("log-\($0)")
            }
        }
        let lines = "\(missing.count) missing line\(missing.count == 1 ? "" : "s")"
        return [
            "\(folder.path): wrote \(lines) of the audit log, which an interrupted change had not finished"
        ]
    }

    private static func publicNotice(_ folder: Folder) -> String {
        "\(folder.path): wrote \(KeysetFolder.publicName) anew from the keyset"
    }
}
