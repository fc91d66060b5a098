package import PushCryptCore
import PushCryptFiles
package import PushCryptKeysets

extension KeysetStore {
    /// Makes a new keyset with one key, the primary at once: the whole folder appears, or nothing does. What an
    /// interrupted `create` left beside it is discarded.
    ///
    /// - Returns: what was discarded, for people.
    /// - Throws: `KeystoreError` with `alreadyExists` when the name is taken by anything.
    @discardableResult
    package func create(
        _ record: KeyRecord, _ policy: RotationPolicy, _ protection: Protection, _ secret: KeysetSecret?,
        at time: UnixTime, by actor: Actor, as action: AuditEvent.Action = .created
    ) throws -> [String] {
        let path = folder.path
        guard !FileSystem.exists(path) else { throw KeystoreError(.alreadyExists, "\(path) exists already") }
        let empty = KeysetMetadata(
            kind: record.kind, sequence: 0, timeline: KeyTimeline([]), policy: policy, audit: .none, traits: [:])
        var editor = KeysetEditor(
            StoredKeyset(metadata: empty, records: [:], protection: protection, secret: secret), at: time)
        try editor.add(record, activatesAt: time, as: action)
        let stored = try editor.finished(after: nil, by: actor)
        let unfinished = try KeystoreError.converting { () throws(FileError) in
            try FileSystem.makeFolders(FileSystem.parent(of: path))
            return UnfinishedFolders(in: try FileSystem.folder(of: path))
        }
        let notices = unfinished.discard()
        try unfinished.publish(as: FileSystem.name(of: path)) { folder in
            FaultPoint.reach("create-folder")
            let store = KeysetStore(folder.path)
            try store.writeKeyset(stored, folder)
            try store.writeRest(stored, folder)
            FaultPoint.reach("create-written")
        }
        FaultPoint.reach("create-published")
        return notices
    }

    /// Of audit logs that were set aside.
    static let brokenLogPrefix = "audit.broken-"

    /// Sets a broken audit log aside and begins another; the keyset remembers why.
    ///
    /// - Parameter secret: answered before the lock is taken.
    /// - Returns: the name of the old log; nil where the log isn't broken and nothing was done.
    package func beginLogAnew(at time: UnixTime, by actor: Actor, _ secret: SecretSource) throws -> String? {
        let secret = try folder.file().answered(secret)
        let folder = try lockedFolder()
        let stored = try self.folder.file(in: folder).unlocked(secret)
        guard case .broken(let flaw) = try self.folder.auditLog(in: folder).condition(stored.metadata.audit) else {
            return nil
        }
        var editor = KeysetEditor(stored, at: time)
        let oldName = "\(Self.brokenLogPrefix)\(FileSystem.randomName()).jsonl"
        editor.beginLogAnew(oldName, flaw)
        let finished = try editor.finished(after: stored.metadata.timeline, by: actor)
        if folder.has(KeysetFolder.auditName) {
            try KeystoreError.converting { () throws(FileError) in
                try folder.rename(KeysetFolder.auditName, to: oldName)
            }
        }
        FaultPoint.reach("log-set-aside")
        try write(finished, folder)
        return oldName
    }
}
