package import PushCryptCore
package import PushCryptPrimitives

#if os(Linux) || os(macOS)
import PushCryptOpenSSL
#else
#error("PushCryptSender is for Linux and macOS, because it needs OpenSSL. An app links PushCryptApple.")
#endif

/// The keys of a keyset, encrypted at rest.
///
/// ```
/// "sealed": {
///   "v": 1,
///   "passphrase": {"n": N, "r": r, "p": p, "salt": B64(16 bytes), "check": B64(16 bytes)}  |  "command": true,
///   "dataKey": B64(wrapped data key),
///   "keys": B64(nonce(12) || ciphertext || tag(16))
/// }
/// dataKey    32 random bytes, new each time the file is written
/// wrapped    by a passphrase:  nonce(12) || AES-256-GCM(KEK, nonce, aad "pushcrypt/1 data key", dataKey)
///            by a command:     the command's output
/// KEK || check = scrypt(passphrase, salt, N, r, p, 48)                                RFC 7914
/// keys       = AES-256-GCM(dataKey, nonce, aad "pushcrypt/1 keyset" || 0x00 || M, {"keys": [JWK, ...]})
/// M          = the bytes of the file's "pushcrypt" member
/// ```
/// M is authenticated with the keys: an attacker who can write the file but doesn't know the secret can't undo a
/// revocation. `check` distinguishes a wrong passphrase from a damaged file. It helps to guess passphrases no more than
/// the tag does.
package struct SealedKeys {
    let lock: Lock
    /// The wrapped data key; its length is in `Lock.dataKeyByteCounts`.
    let dataKey: [UInt8]
    /// At least `overheadByteCount` bytes.
    let keys: [UInt8]

    enum Lock {
        case passphrase(ScryptParameters, salt: [UInt8], check: [UInt8])
        case command

        var dataKeyByteCounts: ClosedRange<Int> {
            let encrypted = SealedKeys.keyByteCount + SealedKeys.overheadByteCount
            return switch self {
            case .passphrase: encrypted...encrypted
            case .command: 1...WrapCommand.maximumByteCount
            }
        }
    }

    static let saltByteCount = 16
    static let checkByteCount = 16
    private static let keyByteCount = 32
    /// Nonce and tag.
    static let overheadByteCount = AEADAlgorithm.nonceByteCount + AEADAlgorithm.tagByteCount
    private static let dataKeyContext = Array("pushcrypt/1 data key".utf8)

    var protection: Protection {
        switch lock {
        case .passphrase(let parameters, _, _): .passphrase(parameters)
        case .command: .command
        }
    }

    /// Encrypts with a new data key.
    package static func seal(
        _ plaintext: [UInt8], metadata: [UInt8], secret: KeysetSecret, parameters: ScryptParameters
    ) throws -> SealedKeys {
        let backend = OpenSSLBackend()
        let dataKey = try backend.randomSecret(count: keyByteCount)
        let (lock, wrapped): (Lock, [UInt8])
        switch secret.kind {
        case .passphrase(let passphrase):
            let salt = try backend.randomBytes(count: saltByteCount)
            let derived = try DerivedKey(passphrase, salt, parameters)
            lock = .passphrase(parameters, salt: salt, check: derived.check)
            wrapped = try encrypt(dataKey.bytes, under: derived.key.bytes, aad: dataKeyContext)
        case .command(let command):
            lock = .command
            wrapped = try WrapCommand(command).wrap(dataKey)
        }
        let keys = try encrypt(plaintext.bytes, under: dataKey.bytes, aad: context(metadata))
        return SealedKeys(lock: lock, dataKey: wrapped, keys: keys)
    }

    /// - Throws: `KeystoreError` with `wrongSecret`, `damaged`, `wrapCommandFailed`.
    package func open(metadata: [UInt8], secret: KeysetSecret, path: String) throws -> [UInt8] {
        guard let dataKey = try unwrappedDataKey(secret, path),
            let plaintext = try Self.decrypt(keys, under: dataKey.bytes, aad: Self.context(metadata))
        else {
            throw KeystoreError(
                .damaged, "\(path): the encrypted keys don't match the metadata: the file is damaged or was changed")
        }
        return plaintext
    }

    /// - Returns: nil if authentication fails.
    private func unwrappedDataKey(_ secret: KeysetSecret, _ path: String) throws -> SecretBytes? {
        switch (lock, secret.kind) {
        case (.passphrase(let parameters, let salt, let check), .passphrase(let passphrase)):
            let derived = try DerivedKey(passphrase, salt, parameters)
            guard constantTimeEqual(derived.check.bytes, check.bytes) else {
                throw KeystoreError(.wrongSecret, "\(path): the passphrase is wrong")
            }
            guard var key = try Self.decrypt(dataKey, under: derived.key.bytes, aad: Self.dataKeyContext) else {
                return nil
            }
            defer { wipe(&key) }
            return SecretBytes(copying: key.bytes)
        case (.command, .command(let command)):
            return try WrapCommand(command).unwrap(dataKey, count: Self.keyByteCount)
        case (.passphrase, _):
            throw KeystoreError(.secretNeeded, "\(path): the private keys need a passphrase, not a command")
        case (.command, _):
            throw KeystoreError(.secretNeeded, "\(path): the private keys need a command, not a passphrase")
        }
    }

    private struct DerivedKey {
        let key: SecretBytes
        let check: [UInt8]

        init(_ passphrase: SecretBytes, _ salt: [UInt8], _ parameters: ScryptParameters) throws {
            let count = SealedKeys.keyByteCount + SealedKeys.checkByteCount
            let derived = try OpenSSLBackend().scrypt(
                passphrase: passphrase.bytes, salt: salt.bytes, parameters: parameters, count: count)
            key = SecretBytes(copying: derived.bytes.extracting(first: SealedKeys.keyByteCount))
            check = Array(derived.bytes.extracting(droppingFirst: SealedKeys.keyByteCount))
        }
    }

    private static func context(_ metadata: [UInt8]) -> [UInt8] { Array("pushcrypt/1 keyset".utf8) + [0] + metadata }

    private static func encrypt(_ plaintext: Span<UInt8>, under key: Span<UInt8>, aad: [UInt8]) throws -> [UInt8] {
        let backend = OpenSSLBackend()
        var output = try backend.randomBytes(count: AEADAlgorithm.nonceByteCount)
        let nonce = output
        try backend.seal(
            .aes256GCM, key: key, nonce: nonce.bytes, aad: aad.bytes, plaintext: plaintext, appendingTo: &output)
        return output
    }

    /// - Returns: nil if authentication fails.
    private static func decrypt(_ sealed: [UInt8], under key: Span<UInt8>, aad: [UInt8]) throws -> [UInt8]? {
        do {
            return try OpenSSLBackend().open(
                .aes256GCM, key: key, nonce: sealed.bytes.extracting(first: AEADAlgorithm.nonceByteCount),
                aad: aad.bytes, ciphertext: sealed.bytes.extracting(droppingFirst: AEADAlgorithm.nonceByteCount))
        } catch let error as CryptoError where error.code == .authenticationFailure {
            return nil
        }
    }
}

extension SealedKeys {
    /// - Throws: `KeyError` with `malformed`, also for scrypt parameters out of bounds.
    package init(_ member: JSONValue) throws(KeyError) {
        guard member["v"]?.protocolInteger == 1 else {
            throw KeyError(.malformed, "this version of pushcrypt doesn't support the version in sealed.v")
        }
        let lock = try Lock(member)
        guard let dataKey = member.base64URL("dataKey"), lock.dataKeyByteCounts.contains(dataKey.count) else {
            throw KeyError(.malformed, "sealed.dataKey is missing or not a wrapped data key")
        }
        guard let keys = member.base64URL("keys"), keys.count >= Self.overheadByteCount else {
            throw KeyError(.malformed, "sealed.keys is missing or too short")
        }
        self.init(lock: lock, dataKey: dataKey, keys: keys)
    }

    package var json: [UInt8] {
        var output = Array("{\"v\": 1, ".utf8)
        switch lock {
        case .passphrase(let parameters, let salt, let check):
            output += "\"passphrase\": {\"n\": \(parameters.n), \"r\": \(parameters.r), \"p\": \(parameters.p), ".utf8
            output += "\"salt\": \"\(Base64URL.encode(salt))\", \"check\": \"\(Base64URL.encode(check))\"}".utf8
        case .command:
            output += "\"command\": true".utf8
        }
        output += ",\n    \"dataKey\": \"\(Base64URL.encode(dataKey))\",\n    \"keys\": \"".utf8
        Base64URL.append(keys.bytes, to: &output)
        output += "\"}".utf8
        return output
    }
}

extension JSONValue {
    fileprivate func base64URL(_ name: String) -> [UInt8]? { self[name]?.utf8.flatMap(Base64URL.decode) }
}

extension SealedKeys.Lock {
    fileprivate init(_ member: JSONValue) throws(KeyError) {
        switch (member["passphrase"], member["command"]) {
        case (let passphrase?, nil): try self.init(passphrase: passphrase)
        case (nil, let command?) where command.boolean == true: self = .command
        default:
            throw KeyError(.malformed, "sealed needs either passphrase or command")
        }
    }

    private init(passphrase: JSONValue) throws(KeyError) {
        guard let n = passphrase["n"]?.protocolInteger, let r = passphrase["r"]?.protocolInteger,
            let p = passphrase["p"]?.protocolInteger,
            let salt = passphrase.base64URL("salt"), salt.count == SealedKeys.saltByteCount,
            let check = passphrase.base64URL("check"), check.count == SealedKeys.checkByteCount
        else { throw KeyError(.malformed, "sealed.passphrase lacks n, r, p, salt or check") }
        do throws(CryptoError) {
            self = .passphrase(try ScryptParameters(n: Int(n), r: Int(r), p: Int(p)), salt: salt, check: check)
        } catch {
            throw KeyError(.malformed, "sealed.passphrase: \(error.reason)")
        }
    }
}
