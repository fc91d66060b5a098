package import PushCryptCore
import PushCryptFiles
import PushCryptPrimitives

/// The place of a keyset on disk: a folder of a keystore, or a single file.
package struct KeysetPlace: Sendable {
    /// nil for a single file.
    package let folder: KeysetFolder?
    package let path: String
    package let filePath: String

    package init(folder: String) {
        let keyset = KeysetFolder(folder)
        self.folder = keyset
        path = keyset.path
        filePath = keyset.path + "/" + KeysetFolder.keysetName
    }

    package init(file: String) {
        folder = nil
        path = file
        filePath = file
    }

    package var folderPath: String {
        let parent = FileSystem.parent(of: filePath)
        return parent.isEmpty ? "." : parent
    }

    /// - Throws: `KeystoreError` with `notFound`, `noPermission`, `notAKeyset`, `inputOutput`.
    package func read() throws -> RawKeyset {
        try KeystoreError.convertingFileErrors {
            guard let keyset = self.folder else {
                let file = try OpenFile(path)
                let access = try file.requireFile(advice: "; a file with keys is needed here").access
                return try RawKeyset(file.readAll(), .file(path: path, access), access: [access])
            }
            let opened = try Folder(path)
            let (bytes, access) = try opened.read(KeysetFolder.keysetName)
            return try RawKeyset(bytes, .folder(keyset, opened, access), access: [opened.status().access, access])
        }
    }
}

/// The bytes of a keyset before parsing: a `keyset.json`, a JWK set or one JWK. Deinitialisation wipes them.
package final class RawKeyset {
    /// Identifies the bytes, and the owner and mode of their file and folder.
    package struct Version: Hashable, Sendable {
        /// SHA-256 of the bytes.
        let digest: [UInt8]
        let access: [FileAccess]
    }

    enum Origin {
        /// The open folder, and the access of the file in it.
        case folder(KeysetFolder, Folder, FileAccess)
        case file(path: String, FileAccess)
        case environment(name: String)
    }

    package let version: Version
    private let origin: Origin
    private var bytes: [UInt8]

    /// - Parameter bytes: the only copy, wiped here.
    init(_ bytes: [UInt8], _ origin: Origin, access: [FileAccess]) throws {
        version = Version(digest: try KeysetFile.digest(bytes[...]), access: access)
        self.bytes = bytes
        self.origin = origin
    }

    /// - Throws: `KeystoreError` with `notFound` or `notAKeyset`.
    convenience init(environment name: String) throws {
        guard var value = ProcessEnvironment.bytes(of: name) else {
            throw KeystoreError(.notFound, "the environment variable \(name) isn't set; it must contain a keyset")
        }
        defer { wipe(&value) }
        let text = value.drop { $0.isWhiteSpace }
        let json =
            text.first == UInt8(ascii: "{") ? Array(text) : Base64.decode(text.bytes, .any).map { [UInt8]($0.bytes) }
        guard let json else {
            throw KeystoreError(
                .notAKeyset,
                "the environment variable \(name) contains neither JSON, which begins with {, nor base64")
        }
        try self.init(json, .environment(name: name), access: [])
    }

    deinit { wipe(&bytes) }

    /// - Parameter secret: nil for none. With a secret, keys in plain text are refused.
    /// - Throws: `KeystoreError`, `KeyError`, each with the origin in its reason.
    package func keyset(_ secret: KeysetSecret?, allowsDemoKeys: Bool) throws -> Keyset {
        let keyset: Keyset
        do {
            keyset = try parsed(SecretSource(secret, acceptingDemoKeys: allowsDemoKeys))
        } catch let error as KeyError {
            throw KeyError(error.code, "\(source): \(error.reason)")
        } catch let error as CryptoError where error.code == .invalidParameters {
            // The file's scrypt parameters.
            throw KeyError(.malformed, "\(source): \(error.reason)")
        }
        guard allowsDemoKeys || !DemoKeys.contains(keyset) else {
            throw KeystoreError(
                .demoKeys, "\(source) contains demo keys, which are published with pushcrypt and protect nothing")
        }
        if case .file(let path, let access) = origin, keyset.containsSecrets, !DemoKeys.covers(keyset.keyIDs) {
            try KeystoreError.convertingFileErrors { try access.check(.ownerOrRootsGroup, path) }
        }
        return keyset
    }

    private func parsed(_ secret: SecretSource) throws -> Keyset {
        if case .folder(let keyset, let folder, let access) = origin {
            return try keyset.file(bytes, access, in: folder).unlocked(secret).keyset()
        }
        // Only a keystore writes the members sealed and digest.
        let root = (try? JSONText(bytes))?.root
        guard root?["sealed"] != nil || root?[KeysetFile.digestName] != nil else {
            return try Keyset(plainText: bytes, from: source, secret)
        }
        return try KeysetFile(bytes, path: source).unlocked(secret).keyset()
    }

    private var source: String {
        switch origin {
        case .folder(let keyset, _, _): keyset.path
        case .file(let path, _): path
        case .environment(let name): "the environment variable \(name)"
        }
    }
}

extension Keyset {
    /// Whether it contains private halves, shared keys or pre-shared keys.
    fileprivate var containsSecrets: Bool {
        kind == .shared || entries.contains { $0.record.isPrivateAsymmetric || $0.record.hasPSK }
    }
}
