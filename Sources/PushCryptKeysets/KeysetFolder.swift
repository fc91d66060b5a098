package import PushCryptCore
package import PushCryptFiles
import PushCryptPrimitives

/// The private folder of one keyset of a keystore.
///
/// ```
/// NAME/                    0700
///   keyset.json            0600   the keys and their lifecycles
///   public.jwks.json       0644   the public keys, made from keyset.json
///   audit.jsonl            0600   the changes with their authors, times and reasons
///   hook.json              0600   when the program that runs after changes last succeeded
/// ```
package struct KeysetFolder: Sendable {
    package let path: String

    package static let keysetName = "keyset.json"
    package static let publicName = "public.jwks.json"
    package static let auditName = "audit.jsonl"
    package static let hookName = "hook.json"

    package init(_ path: String) {
        let trimmed = path.reversed().drop { $0 == "/" }
        self.path = trimmed.isEmpty ? path : String(trimmed.reversed())
    }

    /// Whether the folder has a `keyset.json`.
    ///
    /// - Throws: `KeystoreError` with `noPermission` if this user can't look into the folder.
    package var exists: Bool { get throws(KeystoreError) { try has(Self.keysetName) } }

    /// Whether the folder has a `keyset.json`, or an audit log without one. A command for all keysets must report such a folder.
    ///
    /// - Throws: as ``exists``.
    package var hasKeyset: Bool {
        get throws(KeystoreError) {
            if try exists { return true }
            return try has(Self.auditName)
        }
    }

    private func has(_ name: String) throws(KeystoreError) -> Bool {
        do throws(FileError) {
            return try FileStatus.at(path + "/" + name) != nil
        } catch {
            throw KeystoreError(FileError(.read, path, systemError: error.systemError))
        }
    }

    /// Reads the keyset's file. File and folder must be private, except those of the published demo keysets.
    ///
    /// - Parameter secretArguments: as in ``SecretSource/arguments``.
    /// - Throws: `KeystoreError`, `KeyError`.
    package func file(_ secretArguments: String = "") throws -> KeysetFile {
        try KeystoreError.convertingFileErrors { try file(in: Folder(path), secretArguments) }
    }

    package func file(in folder: Folder, _ secretArguments: String = "") throws -> KeysetFile {
        var (bytes, access) = try read(in: folder)
        defer { wipe(&bytes) }
        return try file(bytes, access, in: folder, secretArguments)
    }

    func read(in folder: Folder) throws(KeystoreError) -> (bytes: [UInt8], access: FileAccess) {
        do throws(FileError) {
            return try folder.read(Self.keysetName)
        } catch {
            let refusal = KeystoreError(error)
            guard error.code == .symbolicLink else { throw refusal }
            throw KeystoreError(
                refusal.code,
                refusal.reason + ". To read a mounted secret, give the path of the file and not of its folder: links "
                    + "to a file are followed (in Swift: KeysetWatcher(file:) or Keyset(file:))")
        }
    }

    func file(
        _ bytes: [UInt8], _ access: FileAccess, in folder: Folder, _ secretArguments: String = ""
    ) throws -> KeysetFile {
        var file = try KeysetFile(bytes, path: path + "/" + Self.keysetName, secretArguments)
        guard !DemoKeys.covers(file.provenKeyIDs) else { return file }
        try KeystoreError.convertingFileErrors {
            try folder.status().access.check(.ownerOnly, path)
            try access.check(.ownerOnly, path + "/" + Self.keysetName)
        }
        let changes = try laterChanges(after: file.metadata.audit, in: folder)
        let laterFile = changes == nil ? LaterFile(in: folder, than: file.metadata) : nil
        guard changes != nil || laterFile != nil else { return file }
        // A change replaces the keyset's file before all others. A change that another process made since the file was read
        // doesn't make it older than they are.
        var (current, currentAccess) = try read(in: folder)
        defer { wipe(&current) }
        guard current == bytes else {
            return try self.file(current, currentAccess, in: folder, secretArguments)
        }
        (file.laterChanges, file.laterFile) = (changes, laterFile)
        return file
    }

    /// Replaces a keyset that can't be read. FILE stands for the backup.
    ///
    /// - Parameter secretArguments: as in ``SecretSource/arguments``.
    package func restoreCommand(_ secretArguments: String) -> String {
        "pushcrypt keys restore --from FILE \(ShellArgument.quoted(path))\(secretArguments)"
    }

    /// - Throws: `KeystoreError`, `KeyError`.
    package func load(_ secret: SecretSource = .none) throws -> Keyset { try file().unlocked(secret).keyset() }
}
