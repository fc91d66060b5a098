import PushCryptCore
import PushCryptPrimitives

/// The keys of a keyset's file, encrypted with a data key.
///
/// ```
/// SEALED      = {"locks": [ENTRY, ... 1 to 8], "dataKey": B64(60), "keys": B64(sealed keys)}
/// dataKey     = ENC(keyset key, "pushcrypt/1 data key", data key)
/// sealed keys = ENC(data key, "pushcrypt/1 keyset" || 0x00 || bytes of "locks" || 0x00 || rows of the log,
///                   {"keys": [JWK, ...], "history": B64(history key)})
/// ```
/// So who can write the file but knows no secret can change no line of the log and no name of a secret. JSON has no 0x00.
struct SealedRow {
    let entries: [KeysetSecrets.Entry]
    private let locks: [UInt8]
    private let dataKey: [UInt8]
    /// At least `DataKey.overheadByteCount` bytes.
    private let keys: [UInt8]

    private static let dataKeyContext = Array("pushcrypt/1 data key".utf8)

    private static func context(_ locks: [UInt8], _ log: KeysetLog) -> [UInt8] {
        Array("pushcrypt/1 keyset".utf8) + [0] + locks + [0] + log.bytes
    }

    /// - Throws: `KeysetLogError` with `malformed`.
    init(_ reader: RowReader) throws {
        try reader.allowOnly(["locks", "dataKey", "keys"])
        guard let member = reader["locks"] else { throw reader.error(.malformed, "locks") }
        for entry in try reader.elements(of: "locks") {
            try entry.allowOnly(["name", "passphrase", "command", "key"])
            if entry.has("passphrase") { try entry.child("passphrase").allowOnly(["n", "r", "p", "salt", "check"]) }
        }
        entries = try reader.parsed("locks") { () throws(KeyError) in
            try [KeysetSecrets.Entry](locks: member)
        }
        locks = Array(member.rawBytes)
        dataKey = try reader.bytes("dataKey", count: DataKey.wrappedByteCount)
        keys = reader.value.base64URL("keys") ?? []
        guard keys.count >= DataKey.overheadByteCount else { throw reader.error(.malformed, "keys") }
    }

    /// - Parameter keys: an array of JWKs.
    init(_ keys: [UInt8], _ log: KeysetLog, _ secrets: KeysetSecrets, _ historyKey: HistoryKey) throws {
        entries = secrets.entries
        locks = entries.json
        var plaintext = [UInt8]()
        plaintext.reserveCapacity(keys.count + 128)
        defer { wipe(&plaintext) }
        plaintext += "{\"keys\":".utf8
        plaintext += keys
        plaintext += ",\"history\":\"".utf8
        Base64URL.append(historyKey.secret.bytes, to: &plaintext)
        plaintext += "\"}".utf8
        let key = try DataKey.random()
        dataKey = try secrets.key.encrypt(key.secret.bytes, aad: Self.dataKeyContext)
        self.keys = try key.encrypt(plaintext.bytes, aad: Self.context(locks, log))
    }

    /// - Returns: the plaintext, which the caller wipes, and the secrets with the keyset key.
    /// - Throws: `KeysetLogError` with `wrongSecret`, `secretNeeded`, `notAuthentic`; `KeystoreError` with `wrapCommandFailed`.
    func open(_ log: KeysetLog, _ secret: KeysetSecret, row: Int) throws -> ([UInt8], KeysetSecrets) {
        let secrets = try KeysetSecrets(unlocking: entries, with: secret, row: row)
        guard var bytes = try secrets.key.decrypt(dataKey, aad: Self.dataKeyContext) else {
            throw KeysetLogError(.notAuthentic, row: row, "sealed.dataKey")
        }
        defer { wipe(&bytes) }
        guard
            let plaintext = try DataKey(SecretBytes(copying: bytes.bytes)).decrypt(keys, aad: Self.context(locks, log))
        else { throw KeysetLogError(.notAuthentic, row: row, "sealed.keys") }
        return (plaintext, secrets)
    }

    var json: [UInt8] {
        var output = Array("{\"locks\":".utf8)
        output += locks
        output += ",\"dataKey\":\"\(Base64URL.encode(dataKey))\",\"keys\":\"".utf8
        Base64URL.append(keys.bytes, to: &output)
        output += "\"}".utf8
        return output
    }
}
