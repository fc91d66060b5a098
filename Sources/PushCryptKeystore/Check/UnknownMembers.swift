package import PushCryptCore

/// Members of a keyset's file that no command reads. The next change writes the file without them.
package enum UnknownMembers {
    /// The paths of these members, such as `pushcrypt.keys.KID.colour`.
    package static func paths(in root: JSONValue) -> [String] {
        let isEncrypted = root["sealed"] != nil
        var paths = unknown(in: root, "", [isEncrypted ? "sealed" : "keys", "pushcrypt", "digest"])
        if let sealed = root["sealed"] {
            if let locks = sealed["locks"] {
                paths += unknown(in: sealed, "sealed.", ["v", "locks", "dataKey", "keys"])
                for (index, lock) in locks.elements.enumerated() {
                    paths += unknown(inLock: lock, "sealed.locks[\(index)].", ["name", "key"])
                }
            } else {
                paths += unknown(inLock: sealed, "sealed.", ["v", "dataKey", "keys"])
            }
        } else if let keys = root["keys"] {
            for (index, key) in keys.elements.enumerated() { paths += unknown(in: key, "keys[\(index)].", keyMembers) }
        }
        guard let metadata = root["pushcrypt"] else { return paths }
        paths += unknown(in: metadata, "pushcrypt.", metadataMembers)
        paths += unknown(in: metadata["policy"], "pushcrypt.policy.", policyMembers)
        paths += unknown(in: metadata["publication"], "pushcrypt.publication.", publicationMembers)
        paths += unknown(in: metadata["audit"], "pushcrypt.audit.", ["count", "head", "last"])
        guard let keys = metadata["keys"] else { return paths }
        return paths + keys.members.flatMap { unknown(in: $0.value, "pushcrypt.keys.\($0.name).", lifecycleMembers) }
    }

    private static let keyMembers: Set = [
        "kty", "crv", "x", "y", "d", "k", "alg", "kid", "psk", "device", "role", "pub", "priv",
    ]
    private static let metadataMembers: Set = [
        "seq", "updatedAt", "kind", "writer", "policy", "publication", "audit", "keys",
    ]
    private static let publicationMembers: Set = ["set", "topics", "epoch", "validFor"]
    private static let policyMembers: Set = ["rotateEvery", "publishLead", "overlap", "keep", "requireCoverage"]
    private static let lifecycleMembers: Set = [
        "createdAt", "activatesAt", "retiresAt", "expiresAt", "revokedAt", "destroyedAt", "suite", "psk",
    ]

    private static func unknown(inLock object: JSONValue, _ prefix: String, _ others: Set<String>) -> [String] {
        let lock = object["passphrase"] == nil ? "command" : "passphrase"
        return unknown(in: object, prefix, others.union([lock]))
            + unknown(in: object["passphrase"], "\(prefix)passphrase.", ["n", "r", "p", "salt", "check"])
    }

    private static func unknown(in object: JSONValue?, _ prefix: String, _ known: Set<String>) -> [String] {
        (object?.members.map(\.name) ?? []).filter { !known.contains($0) }.map { prefix + $0 }
    }
}
