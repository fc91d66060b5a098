package import PushCryptCore
package import PushCryptPrimitives

/// The keys of a keyset, encrypted at rest.
///
/// ```
/// "sealed": {"v": 1, LOCK, "dataKey": B64(data key, wrapped by LOCK with aad "pushcrypt/1 data key"), "keys": B64(keys)}
///         | {"v": 2, "locks": LOCKS, "dataKey": B64(ENC(keyset key, aad "pushcrypt/2 data key", data key)), "keys": B64(keys)}
/// data key      32 random bytes, new each time the file is written
/// ENC           = nonce(12) || AES-256-GCM(key, nonce, aad, plaintext)
/// keys          = ENC(data key, aad "pushcrypt/1 keyset" || 0x00 || M, {"keys": [JWK, ...]})                     v 1
///               = ENC(data key, aad "pushcrypt/2 keyset" || 0x00 || L || 0x00 || M, {"keys": [JWK, ...]})        v 2
/// M, L          = the bytes of the file's "pushcrypt" member and of "locks"; JSON contains no 0x00
/// ```
/// `KeysetLock` defines LOCK, and `KeysetSecrets` LOCKS. M is authenticated with the keys: an attacker who can write the file
/// but doesn't know a secret can't undo a revocation. Nor can the attacker exchange the names of two secrets, so that the
/// operator would remove the wrong one.
package struct SealedKeys {
    let locks: Locks
    let dataKey: [UInt8]
    /// At least `DataKey.overheadByteCount` bytes.
    let keys: [UInt8]

    enum Locks {
        /// Version 1: one secret.
        case single(KeysetLock)
        /// Version 2: several secrets, and the bytes of the member `locks`.
        case several([KeysetSecrets.Entry], text: [UInt8])

        /// The additional data of the keys.
        func context(_ metadata: [UInt8]) -> [UInt8] {
            switch self {
            case .single: Array("pushcrypt/1 keyset".utf8) + [0] + metadata
            case .several(_, let text): Array("pushcrypt/2 keyset".utf8) + [0] + text + [0] + metadata
            }
        }
    }

    private static let dataKeyContext1 = Array("pushcrypt/1 data key".utf8)
    private static let dataKeyContext2 = Array("pushcrypt/2 data key".utf8)

    var protection: Protection {
        switch locks {
        case .single(let lock): lock.protection
        case .several(let entries, _): entries.protection
        }
    }

    /// Encrypts with a new data key, which one secret wraps.
    package static func seal(
        _ plaintext: [UInt8], metadata: [UInt8], secret: KeysetSecret, parameters: ScryptParameters
    ) throws -> SealedKeys {
        let dataKey = try DataKey.random()
        let (lock, wrapped) = try KeysetLock.wrap(dataKey, secret, parameters, aad: dataKeyContext1)
        return try SealedKeys(plaintext, metadata, dataKey, wrapped: wrapped, .single(lock))
    }

    /// Encrypts with a new data key, which the keyset key of several secrets wraps.
    package static func seal(_ plaintext: [UInt8], metadata: [UInt8], secrets: KeysetSecrets) throws -> SealedKeys {
        let dataKey = try DataKey.random()
        let wrapped = try secrets.key.encrypt(dataKey.secret.bytes, aad: dataKeyContext2)
        let entries = secrets.entries
        return try SealedKeys(plaintext, metadata, dataKey, wrapped: wrapped, .several(entries, text: entries.json))
    }

    private init(
        _ plaintext: [UInt8], _ metadata: [UInt8], _ key: DataKey, wrapped: [UInt8], _ locks: Locks
    ) throws {
        self.locks = locks
        dataKey = wrapped
        keys = try key.encrypt(plaintext.bytes, aad: locks.context(metadata))
    }

    /// Decrypts the keys.
    ///
    /// - Returns: the text of the keys, which the caller wipes; and the secrets of a keyset that has several.
    /// - Throws: `KeystoreError` with `wrongSecret`, `secretNeeded`, `damaged`, `wrapCommandFailed`.
    package func open(
        metadata: [UInt8], secret: KeysetSecret, path: String
    ) throws -> (plaintext: [UInt8], secrets: KeysetSecrets?) {
        let (key, secrets) = try unwrappedDataKey(secret, path)
        guard let key, let plaintext = try key.decrypt(keys, aad: locks.context(metadata)) else {
            throw KeystoreError(
                .damaged, "\(path): the encrypted keys don't match the metadata: the file is damaged or was changed")
        }
        return (plaintext, secrets)
    }

    /// - Returns: no key if authentication fails.
    private func unwrappedDataKey(_ secret: KeysetSecret, _ path: String) throws -> (DataKey?, KeysetSecrets?) {
        switch locks {
        case .single(let lock): return (try lock.unwrap(dataKey, secret, aad: Self.dataKeyContext1, path), nil)
        case .several(let entries, _):
            let secrets = try KeysetSecrets(unlocking: entries, with: secret, path)
            guard var key = try secrets.key.decrypt(dataKey, aad: Self.dataKeyContext2) else { return (nil, nil) }
            defer { wipe(&key) }
            return (DataKey(SecretBytes(copying: key.bytes)), secrets)
        }
    }
}

extension SealedKeys {
    /// - Throws: `KeyError` with `malformed`, also for scrypt parameters out of bounds; `unsupportedVersion`.
    package init(_ member: JSONValue) throws(KeyError) {
        let dataKeyByteCounts: ClosedRange<Int>
        switch member["v"]?.protocolInteger {
        case 1:
            let lock = try KeysetLock(member)
            (locks, dataKeyByteCounts) = (.single(lock), lock.wrappedByteCounts)
        case 2:
            let entries = try [KeysetSecrets.Entry](locks: member["locks"])
            locks = .several(entries, text: Array(member["locks"]!.rawBytes))
            dataKeyByteCounts = DataKey.wrappedByteCount...DataKey.wrappedByteCount
        case let version? where version > 2:
            throw KeyError(
                .unsupportedVersion,
                "the keys are encrypted in version \(version), and this pushcrypt reads versions 1 and 2: use a newer pushcrypt "
                    + "on this host")
        default: throw KeyError(.malformed, "sealed.v is missing or not the number of a version")
        }
        guard let dataKey = member.base64URL("dataKey"), dataKeyByteCounts.contains(dataKey.count) else {
            throw KeyError(.malformed, "sealed.dataKey is missing or not a wrapped data key")
        }
        guard let keys = member.base64URL("keys"), keys.count >= DataKey.overheadByteCount else {
            throw KeyError(.malformed, "sealed.keys is missing or too short")
        }
        (self.dataKey, self.keys) = (dataKey, keys)
    }

    package var json: [UInt8] {
        var output: [UInt8]
        switch locks {
        case .single(let lock): output = Array("{\"v\": 1, \(lock.json)".utf8)
        case .several(_, let text): output = Array("{\"v\": 2, \"locks\": ".utf8) + text
        }
        output += ",\n    \"dataKey\": \"\(Base64URL.encode(dataKey))\",\n    \"keys\": \"".utf8
        Base64URL.append(keys.bytes, to: &output)
        output += "\"}".utf8
        return output
    }
}
