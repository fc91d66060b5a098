import PushCryptCore
import PushCryptPrimitives
import PushCryptTestSupport

/// Conformance/vectors/pushcrypt-v1.json: fixed keys, and payloads of the Python reference.
struct ReferenceVectors: Decodable {
    struct Opened: Decodable, Sendable, CustomStringConvertible {
        let name: String
        let key: String
        let trust: [String]?
        let at: Int64
        let payload: String

        var description: String { name }
    }

    let topic: String
    let inner: String
    let keys: [String: JWK]
    let opened: [Opened]

    static let shared: ReferenceVectors = {
        do {
            return try Vectors.loadOwn("pushcrypt-v1.json", as: ReferenceVectors.self)
        } catch {
            preconditionFailure("pushcrypt-v1.json: \(error)")
        }
    }()
}

typealias JWK = [String: String]

extension JWK {
    static func named(_ name: String) -> JWK {
        guard let record = ReferenceVectors.shared.keys[name] else { preconditionFailure("no key is named \(name)") }
        return record
    }

    /// The record that the other side gets. For a shared key it is the same.
    var withoutPrivateKey: JWK { filter { !["d", "priv"].contains($0.key) } }

    var json: [UInt8] {
        let members = sorted { $0.key < $1.key }.map { "\"\($0.key)\":\"\($0.value)\"" }
        return Array("{\(members.joined(separator: ","))}".utf8)
    }

    func keyset(_ backend: any CryptoBackend) throws -> Keyset { try Keyset(json: json, backend: backend) }

    func recipient(_ backend: any CryptoBackend) throws -> Recipient {
        try Recipient(jwk: withoutPrivateKey.json, backend: backend)
    }

    func sender(_ backend: any CryptoBackend) throws -> SenderKey { try SenderKey(keyset(backend).entries[0]) }
}

/// A recipient's key with a profile, for both implementations.
struct Channel: Sendable, CustomStringConvertible {
    let description: String
    let key: JWK
    let isSigned: Bool
    let trusted: [JWK]?

    /// If signed, the recipient pins the sender and another one.
    init(_ name: String, isSigned: Bool) {
        description = isSigned ? "\(name), signed" : name
        key = .named(name)
        self.isSigned = isSigned
        trusted = isSigned ? ["other sender", "sender"].map { JWK.named($0).withoutPrivateKey } : nil
    }

    init(_ description: String, _ key: JWK, trusted: [JWK]? = nil) {
        (self.description, self.key, self.trusted) = (description, key, trusted)
        isSigned = trusted != nil
    }

    /// Suites 1, 2 and 4 and a device's key, by base, psk, signed and both.
    static let all = ["p256", "p256 psk", "x25519", "x25519 psk", "shared", "device"].flatMap { name in
        [false, true].map { Channel(name, isSigned: $0) }
    }

    var signer: JWK? { isSigned ? .named("sender") : nil }
}
