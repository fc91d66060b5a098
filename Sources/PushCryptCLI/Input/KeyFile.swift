import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptKeystore
import PushCryptPrimitives

/// Recognises keys where a payload is expected: no command may show a private key as if it were a part of a push.
enum KeyFile {
    /// - Throws: `Failure` with the input's name if the bytes have keys.
    static func refuse(_ bytes: [UInt8], in name: String) throws(Failure) {
        try refuse(kind(of: bytes), in: name)
    }

    /// - Throws: `Failure` with the input's name if the bytes are one key in PEM or DER.
    static func refuseContainer(_ bytes: [UInt8], in name: String) throws(Failure) {
        // The lines of an input don't show whether it ends with a line break.
        try refuse(containerKind(of: bytes) ?? containerKind(of: bytes + [.newline]), in: name)
    }

    private static func refuse(_ kind: String?, in name: String) throws(Failure) {
        guard let kind else { return }
        throw Failure(.dataError, "\(name) is \(kind), and a payload is needed; none of it is shown")
    }

    private static func kind(of bytes: [UInt8]) -> String? {
        // Also the first line alone, where an input has a payload in each line.
        if (try? KeysetLine(Array(bytes.prefix { $0 != .newline }), row: 1)) != nil { return "a keyset" }
        if let root = (try? JSONText(bytes))?.root { return kind(of: root) }
        // A file that is none of these is damaged, or has a byte order mark.
        let isDamaged = bytes.starts(with: "-----BEGIN".utf8) || bytes.contains("\"kty\"".utf8)
        return containerKind(of: bytes) ?? (isDamaged ? "a key or a damaged file with one" : nil)
    }

    /// What a file in PEM or DER is, with its article; nil for other bytes.
    private static func containerKind(of bytes: [UInt8]) -> String? {
        let file = bytes.first == UInt8(ascii: "0") ? "a DER file" : "a PEM file"
        do {
            let key = try KeyContainer.read(bytes.bytes)
            return "\(file) with a \(key.privateKey == nil ? "public" : "private") key"
        } catch let error as KeyContainerError {
            switch error.code {
            case .passphraseNeeded, .unsupportedEncryption: return "\(file) with an encrypted private key"
            case .unsupportedKey, .invalidKey, .inconsistentKeyPair: return "\(file) with a key"
            default: return nil
            }
        } catch {
            return nil
        }
    }

    /// What a JSON text is, with its article; nil if it has no keys. A payload, which has `aps`, may have any members. For a
    /// string, what its content is.
    static func kind(of root: JSONValue) -> String? {
        if let content = root.utf8 { return kind(of: Array(content)) }
        guard root["aps"] == nil else { return nil }
        let isPrivate = hasSecret(root)
        if root["kty"] != nil { return isPrivate ? "a key with secret members (JWK)" : "a public key (JWK)" }
        if let keys = root["keys"],
            keys.elements.contains(where: { $0["kty"] != nil }) || root["pushcrypt"]?["keys"] != nil
        {
            return isPrivate ? "a set of private keys" : "a set of public keys"
        }
        if root["publishers"]?.kind == .array { return "the pins of an app" }
        if root["payload"]?.kind == .string, root["signatures"]?.kind == .array { return "a signed set of sender keys" }
        if isReference(root) { return "the reference of an encrypted file, with its key" }
        return isPrivate ? "a key with secret members (JWK) inside" : nil
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
