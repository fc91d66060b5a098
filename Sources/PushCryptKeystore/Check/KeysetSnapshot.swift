import PushCryptCore
package import PushCryptFiles
package import PushCryptKeysets
import PushCryptPrimitives

/// The files of a keyset as they were at one moment: read under the lock that changes take, so that none is half-way.
///
/// What can't be read is an error of that file and not of the whole.
package struct KeysetSnapshot: Sendable {
    package let path: String
    package let folder: FileStatus
    /// By name.
    package let files: [String: FileStatus]
    package let keyset: Result<KeysetFile, any Error>
    package let log: Result<AuditLog, any Error>
    /// nil where there is none.
    package let published: Result<[UInt8]?, any Error>

    /// - Parameter requiringPrivacy: whether private files that others own or can reach are errors, as for every command
    ///   that works with them.
    /// - Throws: `KeystoreError` where the folder can't be read.
    package init(_ path: String, requiringPrivacy: Bool) throws {
        let keysetFolder = KeysetFolder(path)
        self.path = keysetFolder.path
        let (folder, status, files) = try KeystoreError.converting { () throws(FileError) in
            let folder = try Folder(keysetFolder.path)
            try folder.lock(.shared)
            var files = [String: FileStatus]()
            for name in try folder.names() { files[name] = folder.status(of: name) }
            return (folder, try folder.status(), files)
        }
        self.folder = status
        self.files = files
        func read(_ name: String, _ rule: FileAccess.Rule? = nil) throws(KeystoreError) -> [UInt8] {
            try KeystoreError.converting { () throws(FileError) in try folder.read(name, rule).bytes }
        }
        keyset = Result {
            guard !requiringPrivacy else { return try keysetFolder.file(in: folder) }
            var bytes = try read(KeysetFolder.keysetName)
            defer { wipe(&bytes) }
            return try KeysetFile(bytes, path: keysetFolder.path + "/" + KeysetFolder.keysetName)
        }
        log = Result {
            guard files[KeysetFolder.auditName] != nil else { return AuditLog([]) }
            return AuditLog(try read(KeysetFolder.auditName, requiringPrivacy ? .ownerOnly : nil))
        }
        published = Result {
            guard files[KeysetFolder.publicName] != nil else { return nil }
            return try read(KeysetFolder.publicName)
        }
    }

    /// What interrupted changes left.
    package var leftovers: [String] { files.keys.filter(Folder.isLeftover).sorted() }

    /// Whether all its keys are published with this project: then nothing of it is a secret.
    package var isDemo: Bool {
        guard let file = try? keyset.get() else { return false }
        return DemoKeys.covers(file.keyIDs)
    }
}

extension KeysetStore {
    /// The audit log and how it stands to the keyset, read under the lock that changes take.
    ///
    /// - Parameter secret: where it is given, what the keyset says of its log is authenticated.
    /// - Throws: `KeystoreError`, `KeyError`; also where only the keyset can't be read.
    package func log(_ secret: SecretSource) throws -> (log: AuditLog, condition: AuditLog.Condition) {
        let snapshot = try KeysetSnapshot(folder.path, requiringPrivacy: true)
        let metadata = try snapshot.keyset.get().metadata(secret)
        let log = try snapshot.log.get()
        return (log, log.condition(metadata.audit))
    }
}
