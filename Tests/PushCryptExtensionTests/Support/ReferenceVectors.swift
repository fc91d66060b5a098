import PushCryptCore
import PushCryptTestSupport

/// The content of Tests/Vectors/pushcrypt-v1.json, which the Python reference generates.
struct ReferenceVectors: Decodable {
    struct Opened: Decodable, Sendable, CustomStringConvertible {
        let name: String
        let key: String
        let trust: [String]?
        let at: Int64
        let payload: String
        let id: String
        let iat: Int64
        let exp: Int64

        var description: String { name }
    }

    struct Refused: Decodable, Sendable, CustomStringConvertible {
        let name: String
        let failure: String
        let key: String
        let trust: [String]?
        let topic: String
        let at: Int64
        let payload: String

        var description: String { name }
    }

    let topic: String
    let inner: String
    let keys: [String: [String: String]]
    let opened: [Opened]
    let refused: [Refused]

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
        try keyset(of: ReferenceVectors.shared.jwk(name), lifecycle)
    }

    static func trusted(_ names: [String], _ lifecycle: KeyLifecycle? = nil) throws -> TrustedSenders {
        let always = KeyLifecycle(activatesAt: UnixTime(0))
        let entries = try names.map { name in
            let keyset = try keyset(of: ReferenceVectors.shared.publicJWK(name), lifecycle)
            return Keyset.Entry(keyset.entries[0].record, lifecycle ?? always)
        }
        return try TrustedSenders(Keyset(entries))
    }

    private static func keyset(of jwk: [UInt8], _ lifecycle: KeyLifecycle?) throws -> Keyset {
        let keyset = try Keyset(json: jwk)
        guard let lifecycle else { return keyset }
        return try Keyset([Keyset.Entry(keyset.entries[0].record, lifecycle)])
    }
}
