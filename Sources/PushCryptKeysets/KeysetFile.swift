package import PushCryptCore
import PushCryptFiles
package import PushCryptPrimitives

/// A `keyset.json` that is read but not unlocked.
///
/// ```
/// {
///   "keys": [JWK, ...]  |  "sealed": SEALED,
///   "pushcrypt": METADATA,
///   "digest": B64(SHA-256 of the file up to the comma before "digest")
/// }
/// ```
/// The digest detects accidental damage before a passphrase is requested; it doesn't protect against attackers. A file
/// that was written by hand may omit it.
package struct KeysetFile: Sendable {
    package let metadata: KeysetMetadata
    package let protection: Protection
    /// The changes after this file in the audit log beside it; nil if it is as new as its log, or has none. No command uses or
    /// changes such a keyset, and every function that takes a secret's source refuses it.
    package internal(set) var laterChanges: LaterChanges?
    /// Another file of a later change, if the log shows none. Such a keyset is refused in the same way.
    package internal(set) var laterFile: LaterFile?
    private let wholeText: WipedText
    private let records: [KeyID: KeyRecord]
    private let path: String

    /// - Parameter secretArguments: as in ``SecretSource/arguments``.
    /// - Throws: `KeyError`, `KeystoreError` with `damaged`.
    package init(_ bytes: [UInt8], path: String, _ secretArguments: String = "") throws {
        let root: JSONValue
        do {
            wholeText = try WipedText(bytes)
            root = wholeText.root
        } catch {
            throw KeyError(.malformed, "not a JSON text: \(error)")
        }
        try Self.checkDigest(bytes, root, path, secretArguments)
        guard let member = root["pushcrypt"] else {
            throw KeyError(.malformed, "a keyset needs a pushcrypt member with the lifecycles of its keys")
        }
        if let sealed = root["sealed"] {
            guard root["keys"] == nil else {
                throw KeyError(.malformed, "the set has keys in clear beside the encrypted ones")
            }
            records = [:]
            protection = try SealedKeys(sealed).protection
            metadata = try KeysetMetadata(member, records: [:])
        } else {
            protection = .plaintext
            (metadata, records) = try Self.plainKeys(root, member)
        }
        self.path = path
    }

    private var text: JSONText { wholeText.text }

    /// The file's bytes, which may contain plain keys. The object wipes its own copy only.
    package var bytes: [UInt8] { text.bytes }

    /// The parsed file, including plain-text private keys.
    package var root: JSONValue { text.root }

    /// The ids in the metadata, including those of destroyed keys.
    package var keyIDs: [KeyID] { metadata.timeline.keys.map(\.kid) }

    /// The ids that identify the plain keys. Empty if any is a device key, which has the id of its master, or if the keys weren't
    /// read.
    var provenKeyIDs: [KeyID] { records.isEmpty || records.values.contains(where: \.isDeviceKey) ? [] : keyIDs }

    /// Returns the keyset with its keys. No other function returns the keys.
    ///
    /// - Parameter evenIfOlder: whether a keyset is accepted that is older than its log or another file beside it. For commands that examine or correct
    ///   it.
    /// - Throws: `KeystoreError` with `notEncrypted` for plain keys and a given secret, `unexpectedState`, `olderThanLog`;
    ///   `KeyError`, also `unsupportedSuite` before the secret is asked for.
    package func unlocked(_ source: SecretSource, evenIfOlder: Bool = false) throws -> StoredKeyset {
        try check(source, evenIfOlder)
        try metadata.requireSuites()
        guard let sealed = text.root["sealed"], let member = text.root["pushcrypt"] else {
            return StoredKeyset(metadata: metadata, records: records, protection: protection, secret: nil)
        }
        let secret = try source.secret()
        var (plaintext, secrets) = try open(SealedKeys(sealed), member, secret, source.arguments)
        defer { wipe(&plaintext) }
        let keys: [KeyID: KeyRecord]
        do {
            keys = try Self.records(JSONText(plaintext).root)
        } catch let error as JSONError {
            throw KeyError(.malformed, "the decrypted keys are not a JSON text: \(error)")
        }
        try Self.requireEveryKey(of: metadata, in: keys)
        return StoredKeyset(
            metadata: metadata, records: keys, protection: protection, secret: secret, secrets: secrets)
    }

    private func open(
        _ sealed: SealedKeys, _ metadata: JSONValue, _ secret: KeysetSecret, _ secretArguments: String
    ) throws -> (plaintext: [UInt8], secrets: KeysetSecrets?) {
        do {
            return try sealed.open(metadata: Array(metadata.rawBytes), secret: secret, path: path)
        } catch let error as KeystoreError where error.code == .damaged {
            throw KeystoreError(
                .damaged, error.fault, remedy: Self.remedy(for: path, isEncrypted: true, secretArguments))
        }
    }

    /// The metadata, authenticated if a secret was given.
    ///
    /// - Parameter isAuthenticated: false to leave a given secret out.
    /// - Throws: `KeystoreError` with `unexpectedState`, `olderThanLog`; with a given secret as ``unlocked(_:evenIfOlder:)``.
    package func metadata(
        _ source: SecretSource, isAuthenticated: Bool = true, evenIfOlder: Bool = false
    ) throws -> KeysetMetadata {
        if source.isGiven, isAuthenticated { return try unlocked(source, evenIfOlder: evenIfOlder).metadata }
        try check(source, evenIfOlder)
        return metadata
    }

    /// Asks for the secret now, so that no person is asked while a lock is held. For encrypted keys, the result counts as a
    /// given secret: if the file contains plain keys when it is read again, they are refused.
    ///
    /// - Throws: `KeystoreError` with `notEncrypted`, `unexpectedState`, `olderThanLog`; `KeyError` with `unsupportedSuite`; what the
    ///   source throws.
    package func answered(_ source: SecretSource, evenIfOlder: Bool = false) throws -> SecretSource {
        try check(source, evenIfOlder)
        try metadata.requireSuites()
        guard protection != .plaintext else { return source }
        return SecretSource(try source.secret()).expecting(source.expected).named(by: source.arguments)
    }

    private func check(_ source: SecretSource, _ acceptsOlder: Bool) throws(KeystoreError) {
        if protection == .plaintext { try source.requireEncryption(of: provenKeyIDs, in: path) }
        if !acceptsOlder { try requireNewest(source.arguments) }
        try source.expected.check(metadata, of: path)
    }

    /// Whether nothing beside the file is from a later change.
    package var isNewest: Bool { laterChanges == nil && laterFile == nil }

    /// - Parameter secretArguments: as in ``SecretSource/arguments``.
    /// - Throws: `KeystoreError` with `olderThanLog`.
    package func requireNewest(_ secretArguments: String) throws(KeystoreError) {
        if let laterChanges { throw laterChanges.refusal(of: folderPath, metadata, secretArguments) }
        if let laterFile { throw laterFile.refusal(of: folderPath, metadata, secretArguments) }
    }

    private var folderPath: String { FileSystem.parent(of: path) }

    /// The records are empty if the metadata names a key of a suite that this host can't use.
    private static func plainKeys(
        _ root: JSONValue, _ member: JSONValue
    ) throws -> (KeysetMetadata, [KeyID: KeyRecord]) {
        do {
            let records = try records(root)
            let metadata = try KeysetMetadata(member, records: records)
            try requireEveryKey(of: metadata, in: records)
            return (metadata, records)
        } catch let error as KeyError where error.code == .unsupportedSuite {
            guard let metadata = try? KeysetMetadata(member, records: [:]), metadata.unsupportedSuite != nil else {
                throw error
            }
            return (metadata, [:])
        }
    }

    private static func records(_ root: JSONValue) throws -> [KeyID: KeyRecord] {
        guard let keys = root["keys"], keys.kind == .array else {
            throw KeyError(.malformed, "keys is missing or not an array")
        }
        var records = [KeyID: KeyRecord]()
        for key in keys.elements {
            let record = try KeyRecord(key, backend: DefaultBackend.shared)
            guard records.updateValue(record, forKey: record.kid) == nil else {
                throw KeyError(.duplicateKey, "key \(record.kid) is in the set twice")
            }
        }
        return records
    }

    /// Requires a record for each key that isn't destroyed, and no other records.
    private static func requireEveryKey(of metadata: KeysetMetadata, in records: [KeyID: KeyRecord]) throws {
        let wanted = Set(metadata.timeline.keys.filter { $0.lifecycle.destroyedAt == nil }.map(\.kid))
        if let kid = wanted.subtracting(records.keys).min() {
            throw KeyError(.malformed, "the set's pushcrypt member names key \(kid), which is not in the set")
        }
        if let kid = Set(records.keys).subtracting(wanted).min() {
            throw KeyError(.malformed, "the set's pushcrypt member doesn't contain key \(kid)")
        }
        if let kid = records.first(where: { $0.value.kind != metadata.kind })?.key {
            throw KeyError(.wrongKind, "key \(kid) is not a \(metadata.kind.rawValue) key like the others")
        }
    }

    /// - Parameter secretArguments: as in ``SecretSource/arguments``.
    /// - Throws: `KeystoreError` with `damaged`.
    package static func checkDigest(
        _ bytes: [UInt8], _ root: JSONValue, _ path: String, _ secretArguments: String = ""
    ) throws {
        guard let member = root.members.first(where: { $0.hasName(digestName) }) else { return }
        let start = member.nameRange.lowerBound
        guard let comma = bytes[..<start].lastIndex(of: UInt8(ascii: ",")),
            member.value.utf8.flatMap(Base64URL.decode) == (try digest(bytes[..<comma]))
        else {
            throw KeystoreError(
                .damaged, "\(path) \(digestMismatch)",
                remedy: remedy(for: path, isEncrypted: root["sealed"] != nil, secretArguments))
        }
    }

    package static let digestMismatch = "doesn't match its digest: it is damaged, or was edited by hand"

    private static func remedy(for path: String, isEncrypted: Bool, _ secretArguments: String) -> String {
        guard FileSystem.name(of: path) == KeysetFolder.keysetName else { return "Use another copy of it" }
        let command = KeysetFolder(FileSystem.parent(of: path)).restoreCommand(isEncrypted ? secretArguments : "")
        return "Restore it from a backup: `\(command)`. "
            + (isEncrypted
                ? "An edit can't be kept, because the encryption also protects the metadata"
                : "If you edited it and want to keep that, remove its member \"\(digestName)\"")
    }

    package static let digestName = "digest"

    package static func digest(_ bytes: ArraySlice<UInt8>) throws -> [UInt8] {
        var covered = Array(bytes)
        defer { wipe(&covered) }
        return try DefaultBackend.shared.sha256(covered.bytes)
    }
}

/// An unlocked keyset of a keystore.
package struct StoredKeyset: Sendable {
    package var metadata: KeysetMetadata
    package var records: [KeyID: KeyRecord]
    package var protection: Protection
    /// The secret that unlocked it, for writing it again; nil for plain text.
    package var secret: KeysetSecret?
    /// All secrets of a keyset that has several; otherwise nil.
    package var secrets: KeysetSecrets?

    package init(
        metadata: KeysetMetadata, records: [KeyID: KeyRecord], protection: Protection, secret: KeysetSecret?,
        secrets: KeysetSecrets? = nil
    ) {
        self.metadata = metadata
        self.records = records
        self.protection = protection
        self.secret = secret
        self.secrets = secrets
    }

    /// The keys that aren't destroyed, for sealing and opening.
    package func keyset() throws -> Keyset {
        let entries = metadata.timeline.keys.compactMap { key in
            records[key.kid].map { record in
                Keyset.Entry(record, key.lifecycle, demandsPSK: metadata.traits[key.kid]?.demandsPSK)
            }
        }
        return try Keyset(entries, sequence: metadata.sequence, updatedAt: metadata.timeline.updatedAt)
    }
}

package enum Protection: Hashable, Sendable {
    /// The keys are not encrypted (`--insecure-plaintext`).
    case plaintext
    /// The keys are encrypted with a data key, which is wrapped with a key derived from a passphrase.
    case passphrase(ScryptParameters)
    /// The keys are encrypted with a data key, which an external command wraps.
    case command
    /// Each of several secrets opens the keys.
    case several([Named])

    package struct Named: Hashable, Sendable {
        package let name: SecretName
        /// A passphrase or a command.
        package let protection: Protection

        package var text: String { "\(name) (\(protection.name))" }
    }

    package var name: String {
        switch self {
        case .plaintext: "plain text"
        case .passphrase: "passphrase"
        case .command: "external command"
        case .several(let secrets): "\(secrets.count) secrets"
        }
    }

    /// The secrets: one without a name, or several with names.
    package var secrets: [(name: SecretName?, protection: Protection)] {
        switch self {
        case .plaintext: []
        case .passphrase, .command: [(nil, self)]
        case .several(let secrets): secrets.map { ($0.name, $0.protection) }
        }
    }
}

/// A JSON text that may contain plain-text private keys. Deinitialisation wipes it.
final class WipedText: @unchecked Sendable {
    // Unchecked because of the variable, which only deinit writes.
    private var scanned: JSONText?

    init(_ bytes: [UInt8]) throws { scanned = try JSONText(bytes) }

    deinit {
        guard var bytes = scanned?.bytes else { return }
        scanned = nil
        wipe(&bytes)
    }

    var text: JSONText { scanned! }
    var root: JSONValue { text.root }
}
