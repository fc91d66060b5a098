import PushCryptCore
import PushCryptTestSupport

/// The content of Tests/Vectors/pushcrypt-v1.json, which the Python reference generates.
struct ReferenceVectors: Decodable {
    /// A payload that opens, with id, iat and exp, or one that is refused, with failure and topic.
    struct Vector: Decodable, Sendable, CustomStringConvertible {
        let name: String
        let key: String
        let trust: [String]?
        let at: Int64
        let payload: String
        let id: String?
        let iat: Int64?
        let exp: Int64?
        let failure: String?
        let topic: String?

        var description: String { name }
    }

    let topic: String
    let inner: String
    let keys: [String: [String: String]]
    let opened: [Vector]
    let refused: [Vector]

    static let shared: ReferenceVectors = {
        do {
            return try Vectors.loadOwn("pushcrypt-v1.json", as: ReferenceVectors.self)
        } catch {
            preconditionFailure("pushcrypt-v1.json: \(error)")
        }
    }()

    func jwk(_ name: String) -> [UInt8] {
        guard let record = keys[name] else { preconditionFailure("no key is named \(name)") }
        return Self.json(record)
    }

    /// The record without its private half `d`; for a shared key, which has none, the whole record.
    func publicJWK(_ name: String) -> [UInt8] {
        guard let record = keys[name] else { preconditionFailure("no key is named \(name)") }
        return Self.json(record.filter { $0.key != "d" })
    }

    private static func json(_ record: [String: String]) -> [UInt8] {
        let members = record.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\"\($0.value)\"" }
        return Array("{\(members.joined(separator: ","))}".utf8)
    }
}

/// Keys by their names in the vectors.
enum TestKeys {
    static func id(_ name: String) throws -> KeyID { try keyset(name).keyIDs[0] }

    static func recipient(_ name: String) throws -> Recipient {
        try Recipient(jwk: ReferenceVectors.shared.publicJWK(name))
    }

    static func sender(_ name: String) throws -> SenderKey { try SenderKey(jwk: ReferenceVectors.shared.jwk(name)) }

    /// - Parameter lifecycle: nil for a key that always opens.
    static func keyset(_ name: String, _ lifecycle: KeyLifecycle? = nil) throws -> Keyset {
        let keyset = try Keyset(json: ReferenceVectors.shared.jwk(name))
        guard let lifecycle else { return keyset }
        return try Keyset([Keyset.Entry(keyset.entries[0].record, lifecycle)])
    }

    static func trusted(_ names: [String], _ lifecycle: KeyLifecycle = .always) throws -> TrustedSenders {
        let entries = try names.map { name in
            Keyset.Entry(try Keyset(json: ReferenceVectors.shared.publicJWK(name)).entries[0].record, lifecycle)
        }
        return try TrustedSenders(Keyset(entries))
    }
}
