package import PushCryptCore
import PushCryptFiles
import PushCryptPrimitives

/// The private half of a keyset.
package struct KeysetMaterial: Sendable {
    /// The private record of each key that isn't destroyed or lost.
    package var records: [KeyID: KeyRecord]
    /// nil for keys in clear.
    package var secrets: KeysetSecrets?
    /// Made with the secrets; nil for keys in clear.
    package var historyKey: HistoryKey?

    package init(records: [KeyID: KeyRecord], secrets: KeysetSecrets?, historyKey: HistoryKey?) {
        self.records = records
        self.secrets = secrets
        self.historyKey = historyKey
    }

    /// The text of the file. The caller wipes it.
    ///
    /// - Throws: `KeysetLogError` with `otherKeys` if the records aren't those of the log.
    package func file(_ log: KeysetLog) throws -> [UInt8] {
        guard Set(records.keys) == Set(log.state.keys.filter(\.hasMaterial).map(\.kid)) else {
            throw KeysetLogError(.otherKeys, row: log.lines.count + 1)
        }
        var keys = Array("[".utf8)
        keys.reserveCapacity(records.count * (KeyRecord.maximumJWKByteCount + 1) + 2)
        defer { wipe(&keys) }
        for (index, record) in records.values.sorted(by: { $0.kid < $1.kid }).enumerated() {
            if index > 0 { keys.append(UInt8(ascii: ",")) }
            try record.appendJWK(to: &keys)
        }
        keys.append(UInt8(ascii: "]"))
        var output = [UInt8]()
        output.reserveCapacity(log.bytes.count + 2 * keys.count + 8_192)
        output += log.bytes
        if let secrets, let historyKey {
            let sealed = try SealedRow(keys, log, secrets, historyKey)
            output += "{\"v\":1,\"sealed\":".utf8
            output += sealed.json
            output += ",\"mac\":\"\(Base64URL.encode(historyKey.mac(of: log)))\"}\n".utf8
        } else {
            output += "{\"v\":1,\"keys\":".utf8
            output += keys
            output += ",\"digest\":\"\(Base64URL.encode(KeysetRows.digest(log, keys[...])))\"}\n".utf8
        }
        return output
    }
}

/// The key that authenticates a log where there is no secret: in the history of a host. 32 random bytes, made once.
package struct HistoryKey: Sendable {
    let secret: SecretBytes

    package static func random() throws -> HistoryKey {
        HistoryKey(secret: try DefaultBackend.shared.randomSecret(count: HKDF.hashByteCount))
    }

    /// HMAC-SHA-256 of all rows, 32 bytes.
    package func mac(of log: KeysetLog) -> [UInt8] {
        Array(DefaultBackend.shared.hmacSHA256(of: log.bytes.bytes, key: secret.bytes).bytes)
    }
}
