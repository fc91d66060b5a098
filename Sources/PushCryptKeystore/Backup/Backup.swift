package import PushCryptCore
import PushCryptFiles
package import PushCryptKeysets
import PushCryptPrimitives

/// Keysets with their logs in one file.
///
/// ```
/// backup = {"backup": M, "keysets": [ENTRY, ...] | "sealed": SEALED, "digest": B64(SHA-256)}
/// M      = {"v": 1, "at": TIME, "keysets": [{"name": NAME, "seq": N, "count": N, "head": B64(32 bytes)}, ...]}
/// ENTRY  = {"name": NAME, "keyset": B64(keyset.json), "log": B64(audit.jsonl)}
/// ```
/// SEALED and the digest are those of a `keyset.json`: SEALED encrypts `{"keysets": [ENTRY, ...]}` and authenticates this M. A
/// keyset's M has `seq` and no `v`, so neither file can be read as the other.
///
/// A keyset that is encrypted at rest stays as it is. A plain one is accepted only in a sealed backup.
package struct Backup: Sendable {
    package let madeAt: UnixTime
    package let keysets: [BackedUpKeyset]

    /// - Throws: `KeystoreError` with `notAKeyset` if two keysets have the same name.
    package init(of keysets: [BackedUpKeyset], at time: UnixTime) throws {
        madeAt = time
        self.keysets = keysets
        let names = Dictionary(grouping: keysets, by: \.name)
        if let name = names.first(where: { $0.value.count > 1 })?.key {
            throw KeystoreError(.notAKeyset, "two keysets have the name \(name): make a backup of each keystore")
        }
    }

    package func keyset(_ name: String) -> BackedUpKeyset? { keysets.first { $0.name == name } }

    package var needsSecret: Bool { keysets.contains { $0.file.protection == .plaintext } }

    /// Far more than the keysets of one keystore.
    private static let limitInBytes = 1 << 28
    private static let beginning = Array("{\n  \"backup\": ".utf8)
}

extension Backup {
    /// Writes the file, which must not exist, reads it back and compares.
    ///
    /// - Parameter secret: of the backup; nil if every keyset is encrypted by itself.
    /// - Throws: `KeystoreError` with `alreadyExists`, `cannotCreate`, `secretNeeded`, `damaged` if it can't be read back.
    package func write(to path: String, _ secret: KeysetSecret?) throws {
        var text = try text(secret)
        defer { wipe(&text) }
        try KeystoreError.convertingFileErrors {
            let file = try NewFile(path)
            FaultPoint.reach("backup-created")
            try file.append(text)
            file.markWhole()
            FaultPoint.reach("backup-written")
            let copy = try Backup(file: file.temporaryPath, SecretSource(secret))
            guard copy.madeAt == madeAt, copy.keysets.elementsEqual(keysets, by: { $0.isSame(as: $1) }) else {
                throw KeystoreError(.damaged, "\(path): the backup can't be read back; nothing was written")
            }
            try file.publish()
        }
        FaultPoint.reach("backup-published")
    }

    /// The caller wipes the result.
    private func text(_ secret: KeysetSecret?) throws -> [UInt8] {
        guard secret != nil || !needsSecret else {
            throw KeystoreError(.secretNeeded, "a backup of a keyset in plain text needs a secret of its own")
        }
        var entries = Self.entriesText(keysets)
        defer { wipe(&entries) }
        let metadata = metadata
        var output = [UInt8]()
        output.reserveCapacity(2 * entries.count + metadata.count + 1_024)
        output += Self.beginning
        output += metadata
        output += ",\n  ".utf8
        if let secret {
            output += "\"sealed\": ".utf8
            output += try SealedKeys.seal(entries, metadata: metadata, secret: secret, parameters: .standard).json
        } else {
            output += entries[1..<entries.count - 1]
        }
        let digest = try KeysetFile.digest(output[...])
        output += ",\n  \"\(KeysetFile.digestName)\": \"\(Base64URL.encode(digest))\"\n}\n".utf8
        return output
    }

    private var metadata: [UInt8] {
        var output = Array("{\"v\": 1, \"at\": \"\(madeAt)\", \"keysets\": [".utf8)
        for (index, keyset) in keysets.enumerated() {
            output += (index == 0 ? "\n    {\"name\": " : ",\n    {\"name\": ").utf8
            JSONWriter.appendString(keyset.name, to: &output)
            let metadata = keyset.file.metadata
            output += ", \"seq\": \(metadata.sequence), \"count\": \(metadata.audit.count), ".utf8
            output += "\"head\": \"\(AuditChain.text(metadata.audit.hash))\"}".utf8
        }
        output += "]}".utf8
        return output
    }

    /// `{"keysets": [ENTRY, ...]}`
    private static func entriesText(_ keysets: [BackedUpKeyset]) -> [UInt8] {
        var output = [UInt8]()
        output.reserveCapacity(64 + keysets.reduce(0) { $0 + 2 * ($1.file.bytes.count + $1.logBytes.count) + 256 })
        output += "{\"keysets\": [".utf8
        for (index, keyset) in keysets.enumerated() {
            output += (index == 0 ? "\n    {\"name\": " : ",\n    {\"name\": ").utf8
            JSONWriter.appendString(keyset.name, to: &output)
            output += ", \"keyset\": \"".utf8
            Base64URL.append(keyset.file.bytes.bytes, to: &output)
            output += "\", \"log\": \"".utf8
            Base64URL.append(keyset.logBytes.bytes, to: &output)
            output += "\"}".utf8
        }
        output += "\n  ]}".utf8
        return output
    }
}

extension Backup {
    /// Whether a file begins as a backup does.
    package static func isBackup(_ path: String) -> Bool {
        guard FileStatus(path, followingLinks: true)?.kind == .file, let file = try? OpenFile(path) else {
            return false
        }
        var bytes = [UInt8](repeating: 0, count: beginning.count)
        return (try? file.readFull(into: &bytes, at: 0)) == bytes.count && bytes == beginning
    }

    /// - Parameter secret: of the backup.
    /// - Throws: `KeystoreError` with `damaged`, `wrongSecret`, `secretNeeded`, `notEncrypted`; `KeyError` for a file that isn't a backup.
    package init(file path: String, _ secret: SecretSource) throws {
        var bytes = try KeystoreError.convertingFileErrors {
            try FileSystem.readFile(path, limitInBytes: Self.limitInBytes)
        }
        defer { wipe(&bytes) }
        do {
            try self.init(bytes, path, secret)
        } catch let error as KeyError {
            throw KeyError(error.code, "\(path): \(error.reason)")
        }
    }

    private init(_ bytes: [UInt8], _ path: String, _ secret: SecretSource) throws {
        let root = try? JSONText(bytes).root
        guard root != nil || !bytes.starts(with: Self.beginning) else {
            throw KeystoreError(
                .damaged, "\(path) is damaged: it ends early, or something follows its end. Use another copy of it")
        }
        guard let root, let member = root["backup"] else {
            throw KeyError(.malformed, "not a backup of keysets: give a file that `pushcrypt keys backup` wrote")
        }
        try KeysetFile.checkDigest(bytes, root, path)
        guard let version = member["v"]?.protocolInteger, let time = try member.time("at") else {
            throw KeyError(.malformed, "the backup lacks its version or its time")
        }
        guard version == 1 else {
            throw KeyError(
                .unsupportedVersion,
                "the backup has version \(version), and this pushcrypt reads version 1: use a newer pushcrypt")
        }
        let keysets = try Self.keysets(root, member, path, secret)
        try self.init(of: keysets, at: time)
        let listed = member["keysets"].map { Array($0.elements) } ?? []
        guard listed.count == keysets.count, zip(listed, keysets).allSatisfy({ $1.matches($0) }) else {
            throw KeystoreError(.damaged, "\(path): the keysets of the backup don't match its list of them")
        }
    }

    private static func keysets(
        _ root: JSONValue, _ member: JSONValue, _ path: String, _ secret: SecretSource
    ) throws -> [BackedUpKeyset] {
        guard let sealed = root["sealed"] else {
            guard !secret.isGiven else {
                throw KeystoreError(
                    .notEncrypted,
                    "\(path) is not sealed, though a secret of the backup was given: another user may have replaced it. If "
                        + "it was made without a secret, give none")
            }
            let keysets = try BackedUpKeyset.all(in: root)
            if let plain = keysets.first(where: { $0.file.protection == .plaintext }) {
                throw KeystoreError(.notEncrypted, "\(path) contains \(plain.name) in plain text; no backup does")
            }
            return keysets
        }
        var (plaintext, _) = try SealedKeys(sealed).open(
            metadata: Array(member.rawBytes), secret: secret.secret(), path: path)
        defer { wipe(&plaintext) }
        guard let root = try? JSONText(plaintext).root else { throw KeyError(.malformed, "the keysets are not JSON") }
        return try BackedUpKeyset.all(in: root)
    }
}

/// One keyset in a backup: its file and the whole log that belongs to it.
package struct BackedUpKeyset: Sendable {
    package let name: String
    package let file: KeysetFile
    let log: AuditLog

    var logBytes: [UInt8] { AuditLog.bytes(of: log.lines) }

    /// - Parameter log: may lack lines that the keyset's file contains, as after a crash.
    /// - Throws: `KeystoreError` with `auditBroken`, `olderThanLog`; `KeyError` for a name that no keyset has.
    init(_ name: String, _ file: KeysetFile, _ log: AuditLog) throws {
        guard Self.isName(name) else { throw KeyError(.malformed, "a keyset of the backup has an invalid name") }
        self.name = name
        self.file = file
        switch log.condition(file.metadata.audit) {
        case .whole: self.log = log
        case .interrupted(let missing): self.log = AuditLog(lines: log.lines + missing)
        case .newer(let later): throw KeystoreError(.olderThanLog, "\(name): \(later)")
        case .broken(let flaw): throw KeystoreError(.auditBroken, "\(name): \(flaw)")
        }
    }

    fileprivate static func all(in root: JSONValue) throws -> [BackedUpKeyset] {
        guard let keysets = root["keysets"], keysets.kind == .array else {
            throw KeyError(.malformed, "the backup has no keysets")
        }
        return try keysets.elements.map { try BackedUpKeyset($0) }
    }

    private init(_ member: JSONValue) throws {
        guard let name = member["name"]?.string, var text = member["keyset"]?.utf8.flatMap(Base64URL.decode),
            let log = member["log"]?.utf8.flatMap(Base64URL.decode)
        else { throw KeyError(.malformed, "a keyset of the backup has no name, keyset or log") }
        defer { wipe(&text) }
        try self.init(name, KeysetFile(text, path: name), AuditLog(log))
    }

    fileprivate func matches(_ listed: JSONValue) -> Bool {
        let metadata = file.metadata
        return listed["name"]?.string == name && listed["seq"]?.protocolInteger == metadata.sequence
            && listed["count"]?.protocolInteger == metadata.audit.count
            && listed["head"]?.utf8.flatMap(Base64URL.decode) == metadata.audit.hash
    }

    fileprivate func isSame(as other: BackedUpKeyset) -> Bool {
        name == other.name && file.bytes == other.file.bytes && log.lines == other.log.lines
    }

    /// One component of a path, and not hidden. The name of an untrusted file must not lead to another folder.
    private static func isName(_ name: String) -> Bool {
        !name.isEmpty && !name.hasPrefix(".") && !name.utf8.contains(UInt8(ascii: "/"))
            && !name.unicodeScalars.contains(where: \.isControlOrFormat)
    }
}

extension KeysetStore {
    /// The keyset and its log, read under the lock that changes use.
    ///
    /// - Parameter secret: a given secret authenticates the keyset.
    /// - Throws: `KeystoreError`, also `auditBroken` and `olderThanLog`: such a keyset isn't worth a backup; `KeyError`.
    package func backedUp(_ secret: SecretSource) throws -> BackedUpKeyset {
        let snapshot = try KeysetSnapshot(folder.path, requiringPrivacy: true, secret.arguments)
        let file = try snapshot.keyset.get()
        _ = try file.metadata(secret)
        do {
            return try BackedUpKeyset(FileSystem.name(of: folder.path), file, snapshot.log.get())
        } catch let error as KeystoreError where [.auditBroken, .olderThanLog].contains(error.code) {
            throw KeystoreError(
                error.code,
                "\(folder.path): \(error.reason). First correct it, see: "
                    + "`pushcrypt keys doctor \(ShellArgument.quoted(folder.path))\(secret.arguments)`")
        }
    }
}
