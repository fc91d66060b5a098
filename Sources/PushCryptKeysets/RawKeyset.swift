package import PushCryptCore
import PushCryptFiles
import PushCryptPrimitives

/// The place of keys on disk: a keyset's file, a JWK set or one JWK.
package struct KeysetPlace: Sendable {
    /// As the caller gave it.
    package let path: String
    package let filePath: String
    /// The id of the only keyset that is accepted; nil for any file with keys.
    fileprivate let id: KeysetID?
    /// nil if the file isn't compared with what the host has seen.
    package var history: HistoryFolder?

    /// - Parameters:
    ///   - file: `Keys/senders` stands for `Keys/senders.keyset` if there is that file, and no file of the shorter name.
    ///   - id: of the only keyset that is accepted. Files of other formats have no id and are refused.
    ///   - history: what the host has seen of keysets. It is raised if this process can write it.
    package init(file: String, id: KeysetID? = nil, history: HistoryFolder? = nil) {
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

    /// - Parameter acceptsPipes: whether the keys may come from a pipe. A pipe has no mode to check, can be read only once, and
    ///   may block this call.
    /// - Throws: `KeystoreError` with `notFound`, `noPermission`, `notAKeyset`, `inputOutput`.
    package func read(acceptingPipes acceptsPipes: Bool = false) throws -> RawKeyset {
        try KeystoreError.convertingFileErrors {
            let file = try OpenFile(filePath, waiting: acceptsPipes)
            if acceptsPipes, try file.status().kind == .other {
                return try RawKeyset(file.readAll(), .pipe(path: path), self)
            }
            let access = try file.requireFile(advice: "; a file with keys is needed here").access
            return try RawKeyset(file.readAll(), .file(path: filePath, access), self)
        }
    }
}

/// The bytes of keys before they are unlocked. Deinitialisation wipes them.
package final class RawKeyset {
    /// Identifies the bytes, and the owner and mode of their file.
    package struct Version: Hashable, Sendable {
        /// SHA-256 of the bytes.
        let digest: [UInt8]
        let access: FileAccess?
    }

    enum Origin {
        case file(path: String, FileAccess)
        case pipe(path: String)
        case environment(name: String)
    }

    package let version: Version
    private let origin: Origin
    /// nil for the environment.
    package var place: KeysetPlace?
    private var bytes: [UInt8]
    private var known: KeysetRows?

    /// - Parameter bytes: the only copy, wiped here.
    init(_ bytes: [UInt8], _ origin: Origin, _ place: KeysetPlace? = nil) throws {
        version = Version(digest: try DefaultBackend.shared.sha256(bytes.bytes), access: origin.access)
        (self.bytes, self.origin, self.place) = (bytes, origin, place)
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
        try self.init(bytes, .environment(name: name))
    }

    deinit { wipe(&bytes) }

    /// The keys for a program.
    ///
    /// - Parameter secret: nil for none. With a secret, keys in clear are refused.
    /// - Throws: `KeystoreError`, `KeyError`, each with the origin in its reason.
    package func unlocked(_ secret: KeysetSecret?, allowsDemoKeys: Bool) throws -> UnlockedKeyset {
        let unlocked: UnlockedKeyset
        do {
            unlocked = try KeystoreError.convertingKeysetErrors { try self.unlocked(secret) }
        } catch let error as KeyError {
            throw KeyError(error.code, "\(source): \(error.reason)")
        }
        guard allowsDemoKeys || !DemoKeys.contains(unlocked.keyset) else {
            throw KeystoreError(
                .demoKeys, "\(source) contains demo keys, which are published with pushcrypt and protect nothing")
        }
        return unlocked
    }

    /// The keys. A file with secrets that isn't private is refused, and the published demo keys are accepted from any file, also
    /// with a secret.
    ///
    /// - Parameters:
    ///   - secret: nil for none. With a secret, keys in clear are refused: an attacker who can write the file could put their own
    ///     there and read what is sealed to them.
    ///   - allowsPublic: whether a JWK set without private halves is accepted although there is a secret, because it is that of
    ///     another keyset of the same command. A registration record with a pre-shared key is accepted, too.
    /// - Throws: ``KeysetFileError``, ``HistoryRefusal``, `KeystoreError`; `KeyError` without the origin in its reason.
    package func unlocked(_ secret: KeysetSecret?, allowsPublic: Bool = false) throws -> UnlockedKeyset {
        guard let rows = try rows() else {
            return unlocked(try keys(secret, allowsPublic), nil, nil)
        }
        let isDemo = rows.log.state.isDemo
        if !isDemo { try checkAccess() }
        let used = isDemo ? nil : secret
        let opened = OpenedKeyset(rows.log, try KeysetFileError.naming(source) { try rows.unlocked(used) })
        if let place, let history = place.history {
            do { try history.admit(opened, from: source) } catch let error as HistoryRefusal {
                // A change of the keyset may have replaced the file and raised the history since the file was read.
                guard error.objection == .older, canBeReadAgain else { throw error }
                let again = try place.read()
                guard again.version != version else { throw error }
                return try again.unlocked(secret, allowsPublic: allowsPublic)
            }
        }
        return unlocked(try KeysetFileError.naming(source) { try Keyset(opened) }, used, opened.log)
    }

    private func unlocked(_ keyset: Keyset, _ secret: KeysetSecret?, _ log: KeysetLog?) -> UnlockedKeyset {
        UnlockedKeyset(keyset: keyset, secret: secret, version: version, canBeReadAgain: canBeReadAgain, log: log)
    }

    /// A JWK set or a JWK, which is never encrypted.
    private func keys(_ secret: KeysetSecret?, _ allowsPublic: Bool) throws -> Keyset {
        let keyset: Keyset
        do { keyset = try Keyset(json: bytes) } catch {
            // A damaged first row: the reader of keysets says where.
            if place?.filePath.hasSuffix(KeysetLocation.suffix) == true, (try? JSONText(bytes)) == nil {
                _ = try KeysetFileError.naming(source) { try KeysetRows(bytes) }
            }
            throw error
        }
        // A device key has its master's id, which doesn't identify it.
        let isDevice = keyset.entries.contains(where: \.record.isDeviceKey)
        guard isDevice || !DemoKeys.covers(keyset.keyIDs) else { return keyset }
        let isPublic = keyset.kind != .shared && !keyset.entries.contains(where: \.record.isPrivateAsymmetric)
        guard secret == nil || allowsPublic && isPublic else {
            throw KeystoreError(
                .notEncrypted,
                "\(source) is not encrypted, though a secret was given: another user may have replaced the encrypted keyset. "
                    + "Only a keyset's file can be encrypted")
        }
        if !isPublic || keyset.entries.contains(where: \.record.hasPSK) { try checkAccess() }
        return keyset
    }

    private func checkAccess() throws {
        guard case .file(let path, let access) = origin else { return }
        try KeystoreError.convertingFileErrors { try access.check(.ownerOrRootsGroup, path) }
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

    private static let lineFeed = UInt8(ascii: "\n")

    /// The rows of a keyset's file, by line 1 of its log; nil for other files. Nothing else decides: names mean nothing.
    ///
    /// - Throws: ``KeysetFileError``; `KeystoreError` with `otherKeyset`.
    package func rows() throws -> KeysetRows? {
        if let known { return known }
        let rows = try isKeysetFile ? KeysetFileError.naming(source) { try KeysetRows(bytes) } : nil
        if let id = place?.id, rows?.log.state.id != id {
            let fact = rows.map { "is the keyset \($0.log.state.id)" } ?? "is not a keyset's file"
            throw KeystoreError(.otherKeyset, "\(source) \(fact), and the keyset \(id) is expected")
        }
        known = rows
        return rows
    }

    private var isKeysetFile: Bool {
        // The first row of another format isn't JSON, or may be a private JWK.
        guard let end = bytes.firstIndex(of: Self.lineFeed), let row = try? WipedText(Array(bytes[..<end])) else {
            return false
        }
        return row.root["n"]?.protocolInteger == 1 && row.root["kind"] != nil
    }

    private var source: String {
        switch origin {
        case .file(let path, _), .pipe(let path): path
        case .environment(let name): "the environment variable \(name)"
        }
    }
}

extension RawKeyset.Origin {
    fileprivate var access: FileAccess? {
        if case .file(_, let access) = self { access } else { nil }
    }
}

/// A keyset, the secret that unlocked it, and the bytes that it was read from.
package struct UnlockedKeyset: Sendable {
    package var keyset: Keyset
    /// nil for keys in clear.
    package let secret: KeysetSecret?
    package let version: RawKeyset.Version
    /// Whether its place can be read again: false for a pipe.
    package let canBeReadAgain: Bool
    /// Authenticated if the keys are encrypted; nil for a file without a log.
    package let log: KeysetLog?
}
