import PushCryptCore
import PushCryptPrimitives

extension SealedKeys {
    /// - Throws: `KeyError` with `malformed`, also for scrypt parameters out of bounds.
    init(_ member: JSONValue) throws(KeyError) {
        guard member["v"]?.protocolInteger == 1 else {
            throw KeyError(.malformed, "sealed is of a version that this pushcrypt doesn't know")
        }
        let lock = try Lock(member)
        guard let dataKey = member["dataKey"]?.utf8.flatMap(Base64URL.decode),
            lock.dataKeyByteCounts.contains(dataKey.count)
        else {
            throw KeyError(.malformed, "sealed.dataKey is missing or not a wrapped data key")
        }
        guard let keys = member["keys"]?.utf8.flatMap(Base64URL.decode), keys.count >= Self.overheadByteCount else {
            throw KeyError(.malformed, "sealed.keys is missing or too short")
        }
        self.init(lock: lock, dataKey: dataKey, keys: keys)
    }

    var json: [UInt8] {
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

extension SealedKeys.Lock {
    fileprivate init(_ member: JSONValue) throws(KeyError) {
        switch (member["passphrase"], member["command"]) {
        case (let passphrase?, nil): try self.init(passphrase: passphrase)
        case (nil, let command?) where command.boolean == true: self = .command
        default:
            throw KeyError(.malformed, "sealed is not either under a passphrase or under a command")
        }
    }

    private init(passphrase: JSONValue) throws(KeyError) {
        guard let n = passphrase["n"]?.protocolInteger, let r = passphrase["r"]?.protocolInteger,
            let p = passphrase["p"]?.protocolInteger,
            let salt = passphrase["salt"]?.utf8.flatMap(Base64URL.decode),
            salt.count == SealedKeys.saltByteCount,
            let check = passphrase["check"]?.utf8.flatMap(Base64URL.decode),
            check.count == SealedKeys.checkByteCount
        else {
            throw KeyError(.malformed, "sealed.passphrase lacks n, r, p, salt or check")
        }
        do throws(CryptoError) {
            self = .passphrase(try ScryptParameters(n: Int(n), r: Int(r), p: Int(p)), salt: salt, check: check)
        } catch {
            throw KeyError(.malformed, "sealed.passphrase: \(error.reason)")
        }
    }
}
