import PushCryptCore
import PushCryptPrimitives

#if os(Linux) || os(macOS)
import PushCryptOpenSSL
#else
#error("PushCryptSender is for Linux and macOS, because it needs OpenSSL. An app links PushCryptApple.")
#endif

/// Wraps a key of 32 bytes with a secret: a passphrase or a command.
///
/// ```
/// LOCK          = "passphrase": {"n": N, "r": r, "p": p, "salt": B64(16 bytes), "check": B64(16 bytes)}  |  "command": true
/// wrapped       by a passphrase:  nonce(12) || AES-256-GCM(KEK, nonce, aad, key)       60 bytes
///               by a command:     the command's output                               1 to 4,096 bytes
/// KEK || check  = scrypt(passphrase, salt, N, r, p, 48)                                RFC 7914
/// ```
/// `check` distinguishes a wrong passphrase from a damaged file. It helps to guess passphrases no more than the tag does.
enum KeysetLock: Hashable {
    case passphrase(ScryptParameters, salt: [UInt8], check: [UInt8])
    case command

    static let saltByteCount = 16
    static let checkByteCount = 16

    var protection: Protection {
        switch self {
        case .passphrase: .passphrase
        case .command: .command
        }
    }

    var wrappedByteCounts: ClosedRange<Int> {
        switch self {
        case .passphrase: DataKey.wrappedByteCount...DataKey.wrappedByteCount
        case .command: 1...WrapCommand.maximumByteCount
        }
    }

    /// - Parameter aad: names the use of the key.
    /// - Returns: a new lock and the wrapped key.
    static func wrap(
        _ key: DataKey, _ secret: KeysetSecret, _ parameters: ScryptParameters, aad: [UInt8]
    ) throws -> (KeysetLock, [UInt8]) {
        switch secret.kind {
        case .passphrase(let passphrase):
            let salt = try OpenSSLBackend().randomBytes(count: saltByteCount)
            let derived = try DerivedKey(passphrase, salt, parameters)
            let wrapped = try derived.key.encrypt(key.secret.bytes, aad: aad)
            return (.passphrase(parameters, salt: salt, check: derived.check), wrapped)
        case .command(let command, let variables):
            return (.command, try WrapCommand(command, variables).wrap(key.secret))
        }
    }

    /// Whether the secret is of the lock's kind and, if it is a passphrase, whether it is the lock's.
    func accepts(_ secret: KeysetSecret) throws -> Bool {
        switch (self, secret.kind) {
        case (.passphrase(let parameters, let salt, let check), .passphrase(let passphrase)):
            let derived = try DerivedKey(passphrase, salt, parameters)
            return constantTimeEqual(derived.check.bytes, check.bytes)
        case (.command, .command): return true
        default: return false
        }
    }

    /// - Parameter row: of the lock, for errors.
    /// - Returns: nil if authentication fails.
    /// - Throws: `KeysetLogError` with `secretNeeded` for a secret of the other kind, `wrongSecret`; `KeystoreError` with
    ///   `wrapCommandFailed`, `inputOutput`; `CryptoError`.
    func unwrap(_ wrapped: [UInt8], _ secret: KeysetSecret, aad: [UInt8], row: Int) throws -> DataKey? {
        switch (self, secret.kind) {
        case (.passphrase(let parameters, let salt, let check), .passphrase(let passphrase)):
            let derived = try DerivedKey(passphrase, salt, parameters)
            guard constantTimeEqual(derived.check.bytes, check.bytes) else {
                throw KeysetLogError(.wrongSecret, row: row)
            }
            guard var key = try derived.key.decrypt(wrapped, aad: aad) else { return nil }
            defer { wipe(&key) }
            return DataKey(SecretBytes(copying: key.bytes))
        case (.command, .command(let command, let variables)):
            return DataKey(try WrapCommand(command, variables).unwrap(wrapped, count: DataKey.byteCount))
        default: throw KeysetLogError(.secretNeeded, row: row)
        }
    }

    private struct DerivedKey {
        let key: DataKey
        let check: [UInt8]

        init(_ passphrase: SecretBytes, _ salt: [UInt8], _ parameters: ScryptParameters) throws {
            let count = DataKey.byteCount + KeysetLock.checkByteCount
            let derived = try OpenSSLBackend().scrypt(
                passphrase: passphrase.bytes, salt: salt.bytes, parameters: parameters, count: count)
            key = DataKey(SecretBytes(copying: derived.bytes.extracting(first: DataKey.byteCount)))
            check = Array(derived.bytes.extracting(droppingFirst: DataKey.byteCount))
        }
    }
}

/// A key for AES-256-GCM, 32 bytes. What it encrypts begins with a random nonce.
struct DataKey: Sendable {
    let secret: SecretBytes

    static let byteCount = 32
    /// Nonce and tag.
    static let overheadByteCount = AEADAlgorithm.nonceByteCount + AEADAlgorithm.tagByteCount
    static let wrappedByteCount = byteCount + overheadByteCount

    init(_ secret: SecretBytes) { self.secret = secret }

    static func random() throws -> DataKey { DataKey(try OpenSSLBackend().randomSecret(count: byteCount)) }

    func encrypt(_ plaintext: Span<UInt8>, aad: [UInt8]) throws -> [UInt8] {
        let backend = OpenSSLBackend()
        var output = try backend.randomBytes(count: AEADAlgorithm.nonceByteCount)
        let nonce = output
        try backend.seal(
            .aes256GCM, key: secret.bytes, nonce: nonce.bytes, aad: aad.bytes, plaintext: plaintext,
            appendingTo: &output)
        return output
    }

    /// - Parameter sealed: at least ``overheadByteCount`` bytes.
    /// - Returns: nil if authentication fails.
    func decrypt(_ sealed: [UInt8], aad: [UInt8]) throws -> [UInt8]? {
        do {
            return try OpenSSLBackend().open(
                .aes256GCM, key: secret.bytes, nonce: sealed.bytes.extracting(first: AEADAlgorithm.nonceByteCount),
                aad: aad.bytes, ciphertext: sealed.bytes.extracting(droppingFirst: AEADAlgorithm.nonceByteCount))
        } catch let error as CryptoError where error.code == .authenticationFailure {
            return nil
        }
    }
}

extension KeysetLock {
    /// - Throws: `KeyError` with `malformed`, also for scrypt parameters out of bounds.
    init(_ member: JSONValue) throws(KeyError) {
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
            let salt = passphrase.base64URL("salt"), salt.count == Self.saltByteCount,
            let check = passphrase.base64URL("check"), check.count == Self.checkByteCount
        else { throw KeyError(.malformed, "sealed.passphrase lacks n, r, p, salt or check") }
        do throws(CryptoError) {
            self = .passphrase(try ScryptParameters(n: Int(n), r: Int(r), p: Int(p)), salt: salt, check: check)
        } catch {
            throw KeyError(.malformed, "sealed.passphrase: \(error.reason)")
        }
    }

    /// `"passphrase":{...}` or `"command":true`
    var json: String {
        switch self {
        case .passphrase(let parameters, let salt, let check):
            "\"passphrase\":{\"n\":\(parameters.n),\"r\":\(parameters.r),\"p\":\(parameters.p),"
                + "\"salt\":\"\(Base64URL.encode(salt))\",\"check\":\"\(Base64URL.encode(check))\"}"
        case .command: "\"command\":true"
        }
    }
}

extension JSONValue {
    func base64URL(_ name: String) -> [UInt8]? { self[name]?.utf8.flatMap(Base64URL.decode) }
}
