import PushCryptCore
import PushCryptPrimitives

extension SealedKeys {
    /// - Throws: `KeyError` with `malformed`, `CryptoError` for scrypt parameters out of bounds.
    init(_ member: JSONValue) throws {
        guard member["v"]?.protocolInteger == 1 else {
            throw KeyError(.malformed, "sealed is of a version that this pushcrypt doesn't know")
        }
        guard let dataKey = member["dataKey"]?.utf8.flatMap(Base64URL.decode),
            (1...WrapCommand.maximumByteCount).contains(dataKey.count),
            let keys = member["keys"]?.utf8.flatMap(Base64URL.decode)
        else {
            throw KeyError(.malformed, "sealed has no dataKey or no keys")
        }
        self.init(lock: try Lock(member), dataKey: dataKey, keys: keys)
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
    fileprivate init(_ member: JSONValue) throws {
        guard let passphrase = member["passphrase"] else {
            guard member["command"]?.boolean == true else {
                throw KeyError(.malformed, "sealed is neither under a passphrase nor under a command")
            }
            self = .command
            return
        }
        guard let n = passphrase["n"]?.protocolInteger, let r = passphrase["r"]?.protocolInteger,
            let p = passphrase["p"]?.protocolInteger,
            let salt = passphrase["salt"]?.utf8.flatMap(Base64URL.decode),
            salt.count == SealedKeys.saltByteCount,
            let check = passphrase["check"]?.utf8.flatMap(Base64URL.decode),
            check.count == SealedKeys.checkByteCount
        else {
            throw KeyError(.malformed, "sealed.passphrase lacks n, r, p, salt or check")
        }
        self = .passphrase(try ScryptParameters(n: Int(n), r: Int(r), p: Int(p)), salt: salt, check: check)
    }
}
