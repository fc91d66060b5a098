package import PushCryptCore
import PushCryptFiles
package import PushCryptKeysets
import PushCryptPrimitives

/// Changes a keyset on disk, one process at a time and in one step.
///
/// ```
/// lock the folder, read, finish what a crash left, change, check the invariants
/// write keyset.json under another name, fsync, rename, fsync the folder      the change is made by the rename
/// write public.jwks.json in the same way
/// append to audit.jsonl, fsync
/// ```
/// A crash before the rename leaves the old keyset, a crash after it the new one; the next change does the rest.
package struct KeysetStore: Sendable {
    package let folder: KeysetFolder

    package init(_ path: String) {
        folder = KeysetFolder(path)
    }

    /// What a change did.
    package struct Change<Result> {
        package let result: Result
        /// The keyset after it.
        package let metadata: KeysetMetadata
        /// What was done; empty where nothing was written.
        package let events: [AuditEvent]
        /// What an interrupted change had left and what was done about it, for people.
        package let notices: [String]
    }

    /// - Parameters:
    ///   - secret: a question is asked before the lock is taken.
    ///   - body: changes the keyset; if it doesn't, nothing is written.
    /// - Throws: `KeystoreError`, `KeyError`, `LifecycleError`, what `body` throws. Nothing was changed then, unless the
    ///   error is about the log or the public file, and says so.
    package func change<Result>(
        at time: UnixTime, by actor: Actor, _ secret: SecretSource, _ body: (inout KeysetEditor) throws -> Result
    ) throws -> Change<Result> {
        let secret = secret.isGiven ? secret : try folder.file().answered(secret)
        let folder = try lockedFolder()
        FaultPoint.reach("locked")
        let stored = try self.folder.file(in: folder).unlocked(secret)
        let notices = try finishInterruptedChange(folder, stored)
        var editor = KeysetEditor(stored, at: time)
        let result = try body(&editor)
        guard !editor.events.isEmpty else {
            return Change(result: result, metadata: stored.metadata, events: [], notices: notices)
        }
        let finished = try editor.finished(after: stored.metadata.timeline, by: actor)
        try write(finished, folder)
        return Change(result: result, metadata: finished.metadata, events: editor.events, notices: notices)
    }

    /// The keyset's folder, locked as long as the object is kept.
    func lockedFolder() throws(KeystoreError) -> Folder {
        try KeystoreError.converting { () throws(FileError) in
            let folder = try Folder(folder.path)
            try folder.lock(.exclusive)
            return folder
        }
    }

    func write(_ keyset: StoredKeyset, _ folder: Folder) throws {
        try writeKeyset(keyset, folder)
        do {
            try writeRest(keyset, folder)
        } catch let error as KeystoreError {
            throw KeystoreError(
                error.code,
                "the keyset is changed, but not all that belongs to it; the next change or `keys verify` finishes it: "
                    + error.reason)
        }
    }

    /// Makes the change.
    func writeKeyset(_ keyset: StoredKeyset, _ folder: Folder) throws {
        var text = try keyset.fileText()
        defer { wipe(&text) }
        try requireReadable(text, keyset)
        try KeystoreError.converting { () throws(FileError) in
            try folder.replace(KeysetFolder.keysetName, with: text) { FaultPoint.reach("keyset-\($0)") }
        }
    }

    /// Writes the files that follow from `keyset.json`.
    func writeRest(_ keyset: StoredKeyset, _ folder: Folder) throws {
        try writePublic(keyset, folder)
        FaultPoint.reach("published")
        let lines = AuditLog.bytes(of: keyset.metadata.audit.lastLines)
        try KeystoreError.converting { () throws(FileError) in try folder.append(lines, to: KeysetFolder.auditName) }
        FaultPoint.reach("logged")
    }

    /// A new text replaces the old one only after it was read back.
    private func requireReadable(_ text: [UInt8], _ keyset: StoredKeyset) throws {
        let read = try KeysetFile(text, path: folder.path)
        guard read.metadata == keyset.metadata, read.protection == keyset.protection else {
            throw KeystoreError(.damaged, "\(folder.path): the new keyset can't be read back; nothing was written")
        }
    }

    /// Writes `public.jwks.json` unless it is what the keyset gives.
    @discardableResult
    func writePublic(_ keyset: StoredKeyset, _ folder: Folder) throws -> Bool {
        guard let published = try keyset.published() else { return false }
        let current = try? folder.read(KeysetFolder.publicName).bytes
        guard current != published else { return false }
        _ = try Keyset(json: published)
        try KeystoreError.converting { () throws(FileError) in
            try folder.replace(KeysetFolder.publicName, with: published, mode: 0o644) {
                FaultPoint.reach("public-\($0)")
            }
        }
        return true
    }
}
