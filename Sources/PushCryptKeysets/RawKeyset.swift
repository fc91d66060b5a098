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

    /// - Parameter acceptsPipes: whether the keys may come from a pipe. A pipe has no mode to check, can be read only once, and
    ///   may block this call.
    /// - Throws: `KeystoreError` with `notFound`, `noPermission`, `notAKeyset`, `inputOutput`.
    package func read(acceptingPipes acceptsPipes: Bool = false) throws -> RawKeyset {
        try KeystoreError.convertingFileErrors {
            guard let keyset = self.folder else {
                let file = try OpenFile(path, waiting: acceptsPipes)
                if acceptsPipes, try file.status().kind == .other {
                    return try RawKeyset(file.readAll(), .pipe(path: path), access: [])
                }
                let access = try file.requireFile(advice: "; a file with keys is needed here").access
                return try RawKeyset(file.readAll(), .file(path: path, access), access: [access])
            }
            let opened = try Folder(path)
            let (bytes, access) = try keyset.read(in: opened)
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
        case pipe(path: String)
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
            keyset = try unlocked(SecretSource(secret, acceptingDemoKeys: allowsDemoKeys)).keyset
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
        return keyset
    }

    /// Parses the keys, and refuses a file with secrets that isn't private. The published demo keys are accepted from any
    /// file.
    ///
    /// - Parameter allowsPublic: as for `Keyset.init(plainText:from:_:allowsPublic:)`.
    /// - Throws: `KeyError` without the origin in its reason; `KeystoreError`; `CryptoError` for parameters of scrypt.
    package func unlocked(_ secret: SecretSource, allowsPublic: Bool = false) throws -> UnlockedKeyset {
        let (keyset, used) = try parsed(secret, allowsPublic)
        if case .file(let path, let access) = origin, keyset.containsSecrets, !DemoKeys.covers(keyset.keyIDs) {
            try KeystoreError.convertingFileErrors { try access.check(.ownerOrRootsGroup, path) }
        }
        return UnlockedKeyset(keyset: keyset, secret: used, version: version, canBeReadAgain: canBeReadAgain)
    }

    /// Whether the same file may be valid later, for example after a key server or the table of open files recovers.
    package static func isTemporary(_ error: any Error) -> Bool {
        switch error {
        case let error as KeystoreError: [.wrapCommandFailed, .inputOutput, .changedMeanwhile].contains(error.code)
        case let error as KeyError: [.backendFailure, .noKeySeals].contains(error.code)
        default: error is CryptoError
        }
    }

    private var canBeReadAgain: Bool {
        if case .pipe = origin { false } else { true }
    }

    /// - Returns: the keyset, and the secret that unlocked it; nil for plain text.
    private func parsed(_ secret: SecretSource, _ allowsPublic: Bool) throws -> (Keyset, KeysetSecret?) {
        func opened(_ file: KeysetFile) throws -> (Keyset, KeysetSecret?) {
            let stored = try file.unlocked(secret)
            return (try stored.keyset(), stored.secret)
        }
        if case .folder(let keyset, let folder, let access) = origin {
            return try opened(keyset.file(bytes, access, in: folder, secret.arguments))
        }
        // Only a keystore writes the members sealed and digest.
        let root = (try? JSONText(bytes))?.root
        guard root?["sealed"] != nil || root?[KeysetFile.digestName] != nil else {
            return (try Keyset(plainText: bytes, from: source, secret, allowsPublic: allowsPublic), nil)
        }
        return try opened(KeysetFile(bytes, path: source))
    }

    private var source: String {
        switch origin {
        case .folder(let keyset, _, _): keyset.path
        case .file(let path, _), .pipe(let path): path
        case .environment(let name): "the environment variable \(name)"
        }
    }
}

/// A keyset, the secret that unlocked it, and the bytes that it was read from.
package struct UnlockedKeyset: Sendable {
    package var keyset: Keyset
    /// nil for plain text.
    package let secret: KeysetSecret?
    package let version: RawKeyset.Version
    /// Whether its place can be read again: false for a pipe.
    package let canBeReadAgain: Bool
}

extension Keyset {
    /// Whether it contains private halves, shared keys or pre-shared keys.
    fileprivate var containsSecrets: Bool {
        kind == .shared || entries.contains { $0.record.isPrivateAsymmetric || $0.record.hasPSK }
    }
}
