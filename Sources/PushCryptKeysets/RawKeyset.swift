package import PushCryptCore
import PushCryptFiles
import PushCryptPrimitives

/// The place of a keyset on disk: a folder of a keystore, or a single file.
package struct KeysetPlace: Sendable {
    /// nil for a single file.
    package let folder: KeysetFolder?
    package let path: String
    package let filePath: String
    /// The id of the only keyset that is accepted; nil for any file with keys.
    fileprivate let id: KeysetID?
    /// nil if the file isn't compared with what the host has seen.
    fileprivate let history: HistoryFolder?

    package init(folder: String) {
        let keyset = KeysetFolder(folder)
        self.folder = keyset
        path = keyset.path
        filePath = keyset.path + "/" + KeysetFolder.keysetName
        (id, history) = (nil, nil)
    }

    /// - Parameters:
    ///   - file: `Keys/senders` stands for `Keys/senders.keyset` if there is that file, and no file of the shorter name.
    ///   - id: of the only keyset that is accepted. Files of other formats have no id and are refused.
    ///   - history: what the host has seen of keysets. It is raised if this process can write it.
    package init(file: String, id: KeysetID? = nil, history: HistoryFolder? = nil) {
        folder = nil
        path = file
        let located = KeysetLocation(file).path
        let isNamed = [nil, .folder].contains(FileStatus(file, followingLinks: true)?.kind)
        filePath = isNamed && FileSystem.exists(located) ? located : file
        (self.id, self.history) = (id, history)
    }

    /// - Throws: `KeystoreError` with `otherKeyset` for a text that is no id.
    package init(file: String, id text: String?, history: String?) throws(KeystoreError) {
        let id = text.flatMap { KeysetID($0.utf8) }
        if let text, id == nil {
            throw KeystoreError(.otherKeyset, "\(text) is not the id of a keyset, which has 22 characters")
        }
        self.init(file: file, id: id, history: history.map(HistoryFolder.init))
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
                let file = try OpenFile(filePath, waiting: acceptsPipes)
                if acceptsPipes, try file.status().kind == .other {
                    return try RawKeyset(file.readAll(), .pipe(path: path), access: [], self)
                }
                let access = try file.requireFile(advice: "; a file with keys is needed here").access
                return try RawKeyset(file.readAll(), .file(path: filePath, access), access: [access], self)
            }
            let opened = try Folder(path)
            let (bytes, access) = try keyset.read(in: opened)
            return try RawKeyset(bytes, .folder(keyset, opened, access), access: [opened.status().access, access])
        }
    }
}

/// The bytes of a keyset before parsing: a keyset's file, a `keyset.json`, a JWK set or one JWK. Deinitialisation wipes them.
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
    /// nil for the environment.
    private let place: KeysetPlace?
    private var bytes: [UInt8]

    /// - Parameter bytes: the only copy, wiped here.
    init(_ bytes: [UInt8], _ origin: Origin, access: [FileAccess], _ place: KeysetPlace? = nil) throws {
        version = Version(digest: try KeysetFile.digest(bytes[...]), access: access)
        self.bytes = bytes
        self.origin = origin
        self.place = place
    }

    /// - Throws: `KeystoreError` with `notFound` or `notAKeyset`.
    convenience init(environment name: String) throws {
        guard var value = ProcessEnvironment.bytes(of: name) else {
            throw KeystoreError(.notFound, "the environment variable \(name) isn't set; it must contain a keyset")
        }
        defer { wipe(&value) }
        let text = value.drop { $0.isWhiteSpace }
        var bytes = [UInt8]()
        // Room for a line feed: an array that grows leaves a copy of secrets in memory.
        bytes.reserveCapacity(text.count + 1)
        if text.first == UInt8(ascii: "{") {
            bytes += text
        } else if let decoded = Base64.decode(text.bytes, .any) {
            bytes.append(contentsOf: decoded.bytes)
        } else {
            throw KeystoreError(
                .notAKeyset,
                "the environment variable \(name) contains neither JSON, which begins with {, nor base64")
        }
        // A shell drops the last one: KEYS=$(cat Keys/senders.keyset).
        if bytes.last != Self.lineFeed { bytes.append(Self.lineFeed) }
        try self.init(bytes, .environment(name: name), access: [])
    }

    deinit { wipe(&bytes) }

    /// - Parameter secret: nil for none. With a secret, keys in plain text are refused.
    /// - Throws: `KeystoreError`, `KeyError`, each with the origin in its reason.
    package func unlocked(_ secret: KeysetSecret?, allowsDemoKeys: Bool) throws -> UnlockedKeyset {
        let unlocked: UnlockedKeyset
        do {
            unlocked = try self.unlocked(SecretSource(secret, acceptingDemoKeys: allowsDemoKeys))
        } catch let error as KeyError {
            throw KeyError(error.code, "\(source): \(error.reason)")
        } catch let error as CryptoError where error.code == .invalidParameters {
            // The file's scrypt parameters.
            throw KeyError(.malformed, "\(source): \(error.reason)")
        }
        guard allowsDemoKeys || !DemoKeys.contains(unlocked.keyset) else {
            throw KeystoreError(
                .demoKeys, "\(source) contains demo keys, which are published with pushcrypt and protect nothing")
        }
        return unlocked
    }

    /// Parses the keys, and refuses a file with secrets that isn't private. The published demo keys are accepted from any
    /// file.
    ///
    /// - Parameter allowsPublic: as for `Keyset.init(plainText:from:_:allowsPublic:)`.
    /// - Throws: `KeyError` without the origin in its reason; `KeystoreError`; `CryptoError` for parameters of scrypt.
    package func unlocked(_ secret: SecretSource, allowsPublic: Bool = false) throws -> UnlockedKeyset {
        let (keyset, used, opened) = try parsed(secret, allowsPublic)
        if case .file(let path, let access) = origin, keyset.containsSecrets, !DemoKeys.covers(keyset.keyIDs) {
            try KeystoreError.convertingFileErrors { try access.check(.ownerOrRootsGroup, path) }
        }
        if let opened, let place, let history = place.history {
            do { try history.admit(opened, from: source) } catch let error as KeystoreError {
                // A change of the keyset may have replaced the file and raised the history since the file was read.
                guard error.code == .olderThanHistory, canBeReadAgain else { throw error }
                let again = try place.read()
                guard again.version != version else { throw error }
                return try again.unlocked(secret, allowsPublic: allowsPublic)
            }
        }
        return UnlockedKeyset(
            keyset: keyset, secret: used, version: version, canBeReadAgain: canBeReadAgain, log: opened?.log)
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

    /// - Returns: the keyset; the secret that unlocked it, nil for plain text; what a keyset's file has, nil for other files.
    private func parsed(
        _ secret: SecretSource, _ allowsPublic: Bool
    ) throws -> (Keyset, KeysetSecret?, OpenedKeyset?) {
        func opened(_ file: KeysetFile) throws -> (Keyset, KeysetSecret?, OpenedKeyset?) {
            let stored = try file.unlocked(secret)
            return (try stored.keyset(), stored.secret, nil)
        }
        if isKeysetFile {
            return try KeystoreError.convertingLogErrors(source) {
                let (opened, used) = try unlockedRows(secret)
                return (try Keyset(opened), used, .some(opened))
            }
        }
        if let id = place?.id {
            throw KeystoreError(.otherKeyset, "\(source) is not a keyset's file, and the keyset \(id) is expected")
        }
        if case .folder(let keyset, let folder, let access) = origin {
            return try opened(keyset.file(bytes, access, in: folder, secret.arguments))
        }
        // Only a keystore writes the members sealed and digest.
        let root = (try? JSONText(bytes))?.root
        guard root?["sealed"] != nil || root?[KeysetFile.digestName] != nil else {
            return (try Keyset(plainText: bytes, from: source, secret, allowsPublic: allowsPublic), nil, nil)
        }
        return try opened(KeysetFile(bytes, path: source))
    }

    private static let lineFeed = UInt8(ascii: "\n")

    /// Whether this is a keyset's file, by line 1 of its log. Nothing else decides: names mean nothing.
    private var isKeysetFile: Bool {
        // The first row of another format isn't JSON, or may be a private JWK.
        guard place?.folder == nil, let end = bytes.firstIndex(of: Self.lineFeed),
            let row = try? WipedText(Array(bytes[..<end]))
        else { return false }
        return row.root["n"]?.protocolInteger == 1 && row.root["kind"] != nil
    }

    /// - Throws: also `KeysetLogError`.
    private func unlockedRows(_ source: SecretSource) throws -> (OpenedKeyset, KeysetSecret?) {
        let rows = try KeysetRows(bytes)
        let state = rows.log.state
        if let id = place?.id, state.id != id {
            throw KeystoreError(.otherKeyset, "\(self.source) is the keyset \(state.id), and \(id) is expected")
        }
        try source.expected.refuse(self.source)
        if !rows.isEncrypted { try source.requireEncryption(of: state.keys.map(\.kid), in: self.source) }
        let secret = rows.isEncrypted ? try source.secret() : nil
        return (OpenedKeyset(rows.log, try rows.unlocked(secret)), secret)
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
    /// Authenticated if the keys are encrypted; nil for a file without a log.
    package let log: KeysetLog?
}

extension Keyset {
    /// Whether it contains private halves, shared keys or pre-shared keys.
    fileprivate var containsSecrets: Bool {
        kind == .shared || entries.contains { $0.record.isPrivateAsymmetric || $0.record.hasPSK }
    }
}
