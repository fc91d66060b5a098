import PushCryptCore

/// Recognises keys where a payload is expected: no command may show a private key as if it were a part of a push.
enum KeyFile {
    /// - Throws: `Failure` with the input's name if the bytes have keys.
    static func refuse(_ bytes: [UInt8], in name: String) throws(Failure) {
        let root = (try? JSONText(bytes))?.root
        // A file that isn't JSON is in PEM, damaged, or has a byte order mark.
        let isKey = root == nil && (bytes.starts(with: "-----BEGIN".utf8) || bytes.contains("\"kty\"".utf8))
        guard let kind = root.map(kind) ?? (isKey ? "a key or a damaged file with one" : nil) else { return }
        throw Failure(.dataError, "\(name) is \(kind), and a payload is needed; none of it is shown")
    }

    /// What a JSON text is, with its article; nil if it has no keys. A payload, which has `aps`, may have any members.
    static func kind(of root: JSONValue) -> String? {
        guard root["aps"] == nil else { return nil }
        let isPrivate = hasSecret(root)
        if root["kty"] != nil { return isPrivate ? "a key with secret members (JWK)" : "a public key (JWK)" }
        if let keys = root["keys"],
            keys.elements.contains(where: { $0["kty"] != nil }) || root["pushcrypt"]?["keys"] != nil
        {
            return isPrivate ? "a keyset with private keys" : "a set of public keys"
        }
        if root["sealed"]?["dataKey"] != nil { return "a keyset with encrypted private keys" }
        if root["publishers"]?.kind == .array { return "the pins of an app" }
        if root["payload"]?.kind == .string, root["signatures"]?.kind == .array { return "a signed set of sender keys" }
        if isReference(root) { return "the reference of an encrypted file, with its key" }
        return isPrivate ? "a file with a private key" : nil
    }

    /// Whether a key with a secret member is anywhere in the value.
    private static func hasSecret(_ value: JSONValue) -> Bool {
        value["kty"] != nil && ["d", "k", "priv", "psk"].contains { value[$0] != nil } || isReference(value)
            || value.members.contains { hasSecret($0.value) } || value.elements.contains(where: hasSecret)
    }

    private static func isReference(_ value: JSONValue) -> Bool {
        ["url", "key", "size", "sha256"].allSatisfy { value[$0] != nil }
    }
}
