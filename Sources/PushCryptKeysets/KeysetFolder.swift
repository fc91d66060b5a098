package import PushCryptCore
package import PushCryptFiles
import PushCryptPrimitives

/// One keyset of a keystore: a folder for its owner alone.
///
/// ```
/// NAME/                    0700
///   keyset.json            0600   the keys and their lifecycles
///   public.jwks.json       0644   what may be published, made from keyset.json
///   audit.jsonl            0600   who did what, when and why
/// ```
package struct KeysetFolder: Sendable {
    package let path: String

    package static let keysetName = "keyset.json"
    package static let publicName = "public.jwks.json"
    package static let auditName = "audit.jsonl"

    package init(_ path: String) {
        let trimmed = path.reversed().drop { $0 == "/" }
        self.path = trimmed.isEmpty ? path : String(trimmed.reversed())
    }

    /// Whether a keyset is there.
    package var exists: Bool { FileSystem.exists(path + "/" + Self.keysetName) }

    /// The keyset's file. A private one must be private on disk; the published demo keysets are exempt.
    ///
    /// - Throws: `KeystoreError`, `KeyError`.
    package func file() throws -> KeysetFile {
        try file(in: KeystoreError.converting { () throws(FileError) in try Folder(path) })
    }

    package func file(in folder: Folder) throws -> KeysetFile {
        var (bytes, access) = try KeystoreError.converting { () throws(FileError) in
            try folder.read(Self.keysetName)
        }
        defer { wipe(&bytes) }
        return try file(bytes, access, in: folder)
    }

    /// - Parameters:
    ///   - bytes: what was read from the folder.
    ///   - access: of the file that they were read from.
    func file(_ bytes: [UInt8], _ access: FileAccess, in folder: Folder) throws -> KeysetFile {
        let file = try KeysetFile(bytes, path: path + "/" + Self.keysetName)
        if !DemoKeys.covers(file.provenKeyIDs) {
            try KeystoreError.converting { () throws(FileError) in
                try folder.status().access.check(.ownerOnly, path)
                try access.check(.ownerOnly, path + "/" + Self.keysetName)
            }
        }
        return file
    }

    /// The keyset with its keys.
    ///
    /// - Throws: `KeystoreError`, `KeyError`.
    package func load(_ secret: SecretSource = .none) throws -> Keyset {
        try file().unlocked(secret).keyset()
    }
}
