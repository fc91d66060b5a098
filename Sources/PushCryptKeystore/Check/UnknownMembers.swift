package import PushCryptCore

/// Members of a keyset's file that nobody reads: the next change writes the file without them.
package enum UnknownMembers {
    /// Their paths, as `pushcrypt.keys.KID.colour`, in the order of the file.
    package static func paths(in root: JSONValue) -> [String] {
        let isEncrypted = root["sealed"] != nil
        let lists = [
            unknown(in: root, "", isEncrypted ? ["sealed", "pushcrypt", "digest"] : ["keys", "pushcrypt", "digest"]),
            isEncrypted ? [] : keys(root["keys"]), sealed(root["sealed"]), metadata(root["pushcrypt"]),
        ]
        return lists.flatMap(\.self)
    }

    private static func keys(_ member: JSONValue?) -> [String] {
        (member?.elements.map { $0 } ?? []).enumerated().flatMap { index, key in
            unknown(
                in: key, "keys[\(index)].",
                ["kty", "crv", "x", "y", "d", "k", "alg", "kid", "psk", "device"])
        }
    }

    private static func sealed(_ member: JSONValue?) -> [String] {
        guard let member else { return [] }
        let lock = member["passphrase"] == nil ? "command" : "passphrase"
        return unknown(in: member, "sealed.", ["v", lock, "dataKey", "keys"])
            + unknown(in: member["passphrase"], "sealed.passphrase.", ["n", "r", "p", "salt", "check"])
    }

    private static func metadata(_ member: JSONValue?) -> [String] {
        let keys = member?["keys"]?.members.map { $0 } ?? []
        return unknown(in: member, "pushcrypt.", ["seq", "updatedAt", "kind", "policy", "audit", "keys"])
            + unknown(
                in: member?["policy"], "pushcrypt.policy.",
                ["rotateEvery", "publishLead", "overlap", "keep", "requireCoverage"])
            + unknown(in: member?["audit"], "pushcrypt.audit.", ["count", "head", "last"])
            + keys.flatMap { key in
                unknown(
                    in: key.value, "pushcrypt.keys.\(key.name).",
                    [
                        "createdAt", "activatesAt", "retiresAt", "expiresAt", "revokedAt", "destroyedAt", "suite",
                        "psk",
                    ])
            }
    }

    private static func unknown(in object: JSONValue?, _ prefix: String, _ known: Set<String>) -> [String] {
        (object?.members.map(\.name) ?? []).filter { !known.contains($0) }.map { prefix + $0 }
    }
}
