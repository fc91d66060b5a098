import PushCryptCore
package import PushCryptFiles
import PushCryptPrimitives

/// A keyset's file that is read but not unlocked: its log, and the row with the keys.
///
/// ```
/// LAST   = {"v": 1, "keys": [JWK, ...], "digest": B64(32)} | {"v": 1, "sealed": SEALED, "mac": B64(32)}
/// digest = SHA-256(rows of the log || bytes of the value of "keys")
/// mac    = HMAC-SHA-256(history key, rows of the log)
/// ```
/// The object wipes its own copy of keys in clear.
package struct KeysetRows: Sendable {
    package let log: KeysetLog
    private let last: WipedText
    private let sealed: SealedRow?
    private let mac: [UInt8]
    /// The last row's number.
    private var row: Int { log.lines.count + 1 }

    /// - Throws: `KeysetLogError`.
    package init(_ bytes: [UInt8]) throws {
        guard bytes.count <= KeysetLog.maximumByteCount else { throw KeysetLogError(.tooLarge, row: 0) }
        let (rows, lastRow, row) = try KeysetLog.splittingLastRow(bytes)
        guard let last = try? WipedText(Array(lastRow)) else {
            throw KeysetLogError(.malformed, row: row)
        }
        self.last = last
        let version = last.root["v"]?.protocolInteger
        // First: a later version may have other lines.
        guard version ?? 1 == 1 else { throw KeysetLogError(.unsupportedVersion, row: row, "v") }
        log = try KeysetLog(Array(rows))
        let reader = try RowReader(last.text, row: row)
        guard version != nil else {
            // A line of a log without a last row after it.
            throw reader.has("prev") ? KeysetLogError(.incomplete, row: 0) : reader.error(.malformed, "v")
        }
        if reader.has("sealed") {
            try reader.allowOnly(["v", "sealed", "mac"])
            sealed = try SealedRow(reader.child("sealed"))
            mac = try reader.bytes("mac", count: HKDF.hashByteCount)
            return
        }
        try reader.allowOnly(["v", "keys", "digest"])
        sealed = nil
        mac = []
        guard let keys = reader["keys"], keys.kind == .array else { throw reader.error(.malformed, "keys") }
        let digest = try reader.bytes("digest", count: HKDF.hashByteCount)
        guard digest == Self.digest(log, keys.rawBytes) else { throw reader.error(.wrongDigest, "digest") }
    }

    package var isEncrypted: Bool { sealed != nil }
    /// The names of the secrets; empty for keys in clear.
    package var secrets: [SecretName] { namedSecrets.map(\.name) }
    package var namedSecrets: [Protection.Named] { sealed?.entries.named ?? [] }

    /// The keys, after the log was authenticated.
    ///
    /// - Parameter secret: nil for keys in clear. Such keys are refused if there is one.
    /// - Throws: `KeysetLogError` with `notEncrypted`, `secretNeeded`, `wrongSecret`, `notAuthentic`, `malformed`, `otherSecrets`,
    ///   `otherKeys`;
    ///   `KeystoreError` with `wrapCommandFailed`; `KeyError` with `unsupportedSuite` for keys that this host's cryptographic library can't use.
    package func unlocked(_ secret: KeysetSecret?) throws -> KeysetMaterial {
        guard let sealed else {
            guard secret == nil else { throw KeysetLogError(.notEncrypted, row: row) }
            return KeysetMaterial(records: try records(last.root), secrets: nil, historyKey: nil)
        }
        guard let secret else { throw KeysetLogError(.secretNeeded, row: row) }
        var (plaintext, secrets) = try sealed.open(log, secret, row: row)
        defer { wipe(&plaintext) }
        let text: WipedText
        do { text = try WipedText(plaintext) } catch { throw KeysetLogError(.malformed, row: row, "sealed.keys") }
        let names = ["keys", "history"]
        guard let history = text.root["history"]?.utf8.flatMap(Base64URL.decodeSecret),
            history.count == HKDF.hashByteCount,
            text.root.members.allSatisfy({ member in names.contains { member.hasName($0) } })
        else { throw KeysetLogError(.malformed, row: row, "sealed.keys") }
        let key = HistoryKey(secret: history)
        guard constantTimeEqual(key.mac(of: log).bytes, mac.bytes) else {
            throw KeysetLogError(.notAuthentic, row: row, "mac")
        }
        // Else one who has a secret could add another one that no line shows.
        guard Set(log.state.secrets) == Set(self.secrets) else {
            throw KeysetLogError(.otherSecrets, row: row, "sealed.locks")
        }
        return KeysetMaterial(records: try records(text.root), secrets: secrets, historyKey: key)
    }

    /// Requires the private record of each key of the log that has material, and no others.
    private func records(_ root: JSONValue) throws -> [KeyID: KeyRecord] {
        guard let keys = root["keys"], keys.kind == .array else { throw KeysetLogError(.malformed, row: row, "keys") }
        var records = [KeyID: KeyRecord]()
        for element in keys.elements {
            guard element.members.allSatisfy({ member in Self.members.contains { member.hasName($0) } }) else {
                throw KeysetLogError(.malformed, row: row, "keys")
            }
            let record: KeyRecord
            do {
                record = try KeyRecord(element, backend: DefaultBackend.shared)
            } catch let error as KeyError where ![.unsupportedSuite, .backendFailure].contains(error.code) {
                throw KeysetLogError(.malformed, row: row, "keys")
            }
            guard let key = log.state.key(record.kid), key.hasMaterial,
                record.isPrivateAsymmetric || record.kind == .shared && !record.isDeviceKey,
                record.hasPSK == key.demandsPSK, try PublicJWK(record)?.thumbprint == key.jwk?.thumbprint,
                record.algorithm == key.algorithm, records.updateValue(record, forKey: record.kid) == nil
            else { throw KeysetLogError(.otherKeys, row: row, record.kid.description) }
        }
        if let missing = log.state.keys.first(where: { $0.hasMaterial && records[$0.kid] == nil }) {
            throw KeysetLogError(.otherKeys, row: row, missing.kid.description)
        }
        return records
    }

    /// The members of private key records.
    private static let members = ["kty", "crv", "x", "y", "pub", "d", "priv", "k", "alg", "kid", "psk", "role"]

    static func digest(_ log: KeysetLog, _ keys: ArraySlice<UInt8>) -> [UInt8] {
        let hash = DefaultBackend.shared.sha256()
        hash.update(log.bytes.bytes)
        hash.update(keys.bytes)
        return hash.finalize()
    }
}

/// Reading a keyset's file.
extension KeysetRows {
    package enum Use: Sendable {
        /// Links are refused, and only the owner can use the file and its folder.
        case changing
        /// Links are followed. The group may read root's file: container platforms mount secrets in this way.
        case reading
    }

    /// Reads a keyset's file. A published demo keyset, which has no secret, can be read with any owner and mode.
    ///
    /// - Throws: `FileError` with `notFound`, `noPermission`, `notAFile`, `symbolicLink`, `foreignOwner`, `looseMode`;
    ///   ``KeysetFileError``.
    package init(at location: KeysetLocation, _ use: Use) throws {
        switch use {
        case .changing:
            let folder = try Folder(location.keystore)
            try folder.check(.othersMayRead)
            try self.init(in: folder, location)
        case .reading:
            try self.init(OpenFile(location.path), .ownerOrRootsGroup, location)
        }
    }

    /// Reads a keyset's file to change it.
    ///
    /// - Parameter folder: the keystore, which was checked.
    /// - Throws: as ``init(at:_:)``.
    package init(in folder: Folder, _ location: KeysetLocation) throws {
        try self.init(folder.file(location.fileName), .ownerOnly, location)
    }

    private init(_ file: OpenFile, _ rule: FileAccess.Rule, _ location: KeysetLocation) throws {
        let status = try file.requireFile()
        self = try KeysetFileError.naming(location.path) {
            guard status.byteCount <= KeysetLog.maximumByteCount else { throw KeysetLogError(.tooLarge, row: 0) }
            var bytes = try file.readAll(limitInBytes: KeysetLog.maximumByteCount)
            defer { wipe(&bytes) }
            return try KeysetRows(bytes)
        }
        if !log.state.isDemo { try status.access.check(rule, location.path) }
    }
}

extension KeysetID {
    /// The id of a keyset's file, of which only line 1 is read; nil for any other file.
    package init?(ofFile file: OpenFile) throws(FileError) {
        var (line, chunk) = ([UInt8](), [UInt8](repeating: 0, count: 4_096))
        // Keys in clear may follow the first row.
        defer { wipe(&chunk) }
        while line.count <= KeysetLog.maximumByteCount {
            let count = try file.readSome(into: &chunk)
            let end = chunk[..<count].firstIndex(of: UInt8(ascii: "\n"))
            line += chunk[..<(end ?? count)]
            guard end == nil else { break }
            guard count > 0 else { return nil }
        }
        guard let id = (try? KeysetLine(line, row: 1))?.origin?.id else { return nil }
        self = id
    }
}

extension KeysetState {
    /// Whether all keys are published with this project: they protect nothing and are never changed.
    package var isDemo: Bool { DemoKeys.covers(keys.map(\.kid)) }
}
