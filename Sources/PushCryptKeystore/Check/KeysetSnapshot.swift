import PushCryptCore
package import PushCryptFiles
package import PushCryptKeysets
import PushCryptPrimitives

/// The files of a keyset at one moment, read under the lock that changes use. A file that can't be read doesn't prevent
/// reading the others.
package struct KeysetSnapshot: Sendable {
    package let path: String
    package let folder: FileStatus
    package let files: [String: FileStatus]
    package let keyset: Result<KeysetFile, any Error>
    package let log: Result<AuditLog, any Error>
    /// The content of `public.jwks.json`; nil if there is no such file.
    package let published: Result<[UInt8]?, any Error>
    /// The last change after which a program ran; nil if none ran.
    package let hook: Result<ChangeHook.Record?, any Error>

    /// - Parameter requiringPrivacy: whether to refuse private files that other users own or can open, as commands that use
    ///   the keys do.
    /// - Parameter secretArguments: as in `SecretSource.arguments`.
    /// - Throws: `KeystoreError` if the folder can't be read.
    package init(_ path: String, requiringPrivacy: Bool, _ secretArguments: String = "") throws {
        let keysetFolder = KeysetFolder(path)
        self.path = keysetFolder.path
        let (folder, status, files) = try KeystoreError.convertingFileErrors {
            let folder = try Folder(keysetFolder.path)
            do {
                try folder.lock(.shared, folder.isPrivate ? .forever : .none)
            } catch let error as FileError where error.code == .busy {
                // No command changes private keys in a folder that other users can open, so the lock isn't needed there.
            }
            var files = [String: FileStatus]()
            for name in try folder.names() { files[name] = folder.status(of: name) }
            return (folder, try folder.status(), files)
        }
        self.folder = status
        self.files = files
        func read(_ name: String, _ rule: FileAccess.Rule? = nil) throws -> [UInt8] {
            try KeystoreError.convertingFileErrors { try folder.read(name, rule).bytes }
        }
        keyset = Result {
            guard !requiringPrivacy else { return try keysetFolder.file(in: folder, secretArguments) }
            var bytes = try read(KeysetFolder.keysetName)
            defer { wipe(&bytes) }
            return try KeysetFile(bytes, path: keysetFolder.path + "/" + KeysetFolder.keysetName)
        }
        log = Result {
            guard files[KeysetFolder.auditName] != nil else { return AuditLog([]) }
            return AuditLog(try read(KeysetFolder.auditName, requiringPrivacy ? .ownerOnly : nil))
        }
        hook = Result {
            guard files[KeysetFolder.hookName] != nil else { return nil }
            guard let record = ChangeHook.Record(json: try read(KeysetFolder.hookName)) else {
                throw KeystoreError(.damaged, "\(KeysetFolder.hookName) is damaged")
            }
            return record
        }
        published = Result {
            guard files[KeysetFolder.publicName] != nil else { return nil }
            return try read(KeysetFolder.publicName)
        }
    }

    /// Whether the audit log matches the keyset; nil if one of them can't be read.
    package var logCondition: AuditLog.Condition? {
        guard let head = try? keyset.get().metadata.audit else { return nil }
        return (try? log.get())?.condition(head)
    }

    package var leftovers: [String] { files.keys.filter(Folder.isLeftover).sorted() }

    /// Whether all its keys are published demo keys, so that it contains no secret.
    package var isDemo: Bool {
        guard let file = try? keyset.get() else { return false }
        return DemoKeys.covers(file.keyIDs)
    }
}

extension AuditLog.Condition {
    /// Whether the log has later changes than the keyset.
    var isEarlierCopy: Bool {
        if case .newer = self { true } else { false }
    }
}

extension KeysetStore {
    /// The audit log and whether it matches the keyset, read under the lock that changes use.
    ///
    /// - Parameter secret: a given secret authenticates the keyset's record of the log.
    /// - Throws: `KeystoreError`, `KeyError`, also if only the keyset can't be read.
    package func log(_ secret: SecretSource) throws -> (
        log: AuditLog, condition: AuditLog.Condition, metadata: KeysetMetadata
    ) {
        let snapshot = try KeysetSnapshot(folder.path, requiringPrivacy: true, secret.arguments)
        let metadata = try snapshot.keyset.get().metadata(secret, evenIfOlder: true)
        let log = try snapshot.log.get()
        return (log, log.condition(metadata.audit), metadata)
    }
}
