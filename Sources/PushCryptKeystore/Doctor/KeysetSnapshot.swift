import PushCryptCore
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
        let folder = try Folder(keysetFolder.path)
        try folder.lock(.shared)
        self.folder = try folder.status()
        var files = [String: FileStatus]()
        for name in try folder.names() { files[name] = folder.status(of: name) }
        self.files = files
        keyset = Result {
            guard !requiringPrivacy else { return try keysetFolder.file(in: folder) }
            var bytes = try folder.read(KeysetFolder.keysetName, isPrivate: false)
            defer { wipe(&bytes) }
            return try KeysetFile(bytes, path: keysetFolder.path + "/" + KeysetFolder.keysetName)
        }
        log = Result {
            guard files[KeysetFolder.auditName] != nil else { return AuditLog([]) }
            return AuditLog(try folder.read(KeysetFolder.auditName, isPrivate: requiringPrivacy))
        }
        published = Result {
            guard files[KeysetFolder.publicName] != nil else { return nil }
            return try folder.read(KeysetFolder.publicName, isPrivate: false)
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
