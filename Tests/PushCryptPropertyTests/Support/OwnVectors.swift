import PushCryptCore
import PushCryptExtension
import PushCryptPrimitives
import PushCryptTestSupport

/// Conformance/vectors/pushcrypt-v1.json: made by the Python reference.
struct OwnVectors: Decodable {
    struct Entry: Decodable, Sendable, CustomStringConvertible {
        let name: String
        let key: String
        /// Names of the pinned senders; nil pins none.
        let trust: [String]?
        let at: Int64
        let payload: String
        /// Only in payloads that open.
        let id: String?
        let iat: Int64?
        let exp: Int64?
        /// Only in payloads that are refused.
        let topic: String?
        let failure: String?

        var description: String { failure.map { "\(name): \($0)" } ?? name }

        func opener(_ backend: any CryptoBackend) throws -> Opener {
            try Opener(
                topic: topic ?? shared.topic, keyring: KeysetKeyring(TestKeys.keyset(key, backend)),
                senders: try trust.map { .pinned(try TrustedSenders(TestKeys.keyset($0[0], backend))) } ?? .unsigned)
        }
    }

    let topic: String
    let inner: String
    let keys: [String: [String: String]]
    let opened: [Entry]
    let refused: [Entry]

    static let shared: OwnVectors = {
        do {
            return try Vectors.loadOwn("pushcrypt-v1.json", as: OwnVectors.self)
        } catch {
            preconditionFailure("pushcrypt-v1.json: \(error)")
        }
    }()
}

enum TestKeys {
    static func privateJWK(_ name: String) -> [UInt8] { jwk(name) { _ in true } }

    static func publicJWK(_ name: String) -> [UInt8] { jwk(name) { $0 != "d" } }

    static func keyset(_ name: String, _ backend: any CryptoBackend = DefaultBackend.shared) throws -> Keyset {
        try Keyset(json: privateJWK(name), backend: backend)
    }

    static func kid(_ name: String) -> String { OwnVectors.shared.keys[name]?["kid"] ?? "" }

    private static func jwk(_ name: String, _ isIncluded: (String) -> Bool) -> [UInt8] {
        guard let record = OwnVectors.shared.keys[name] else { preconditionFailure("no key is named \(name)") }
        let members = record.filter { isIncluded($0.key) }.map { "\"\($0.key)\":\"\($0.value)\"" }
        return Array("{\(members.sorted().joined(separator: ","))}".utf8)
    }
}
