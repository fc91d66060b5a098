import PushCryptPrimitives
import PushCryptTestSupport

@testable import PushCryptCore

/// A key record that tests change member by member.
struct TestJWK: Sendable, CustomStringConvertible {
    let description: String
    /// Raw JSON by name.
    private(set) var members: [String: String]

    /// A private record of pushcrypt-v1.json or xwing-keys.json.
    static func named(_ name: String) -> TestJWK {
        guard let record = OwnVectors.shared.keys[name] ?? OwnVectors.xWingKeys[name] else {
            preconditionFailure("no key is named \(name)")
        }
        return TestJWK(description: name, members: record.mapValues { "\"\($0)\"" })
    }

    /// The written form of a record.
    init(generated record: KeyRecord) throws {
        var text = [UInt8]()
        try record.appendJWK(to: &text)
        description = "\(record.algorithm.rawValue)"
        members = try JSONText(text).root.members.reduce(into: [:]) { $0[$1.name] = "\"\($1.value.string ?? "")\"" }
    }

    private init(description: String, members: [String: String]) {
        (self.description, self.members) = (description, members)
    }

    /// Every kind of record, private.
    static let all = ["p256", "p256 psk", "x25519", "x25519 psk", "shared", "device", "sender"].map(named)
    static let withPair = all.filter { $0.members["d"] != nil }

    /// The member's text without its quotes.
    func text(_ member: String) -> String { String((members[member] ?? "\"\"").dropFirst().dropLast()) }

    func bytes(_ member: String) -> [UInt8] { Base64URL.decode(Array(text(member).utf8)[...]) ?? [] }

    /// - Parameter json: raw JSON; nil removes the member.
    func with(_ member: String, _ json: String?) -> TestJWK {
        var changed = self
        changed.members[member] = json
        return changed
    }

    func with(_ member: String, bytes: [UInt8]) -> TestJWK { with(member, "\"\(Base64URL.encode(bytes))\"") }

    /// The record with the kid of its members, computed by another implementation of RFC 7638.
    func withOwnKeyID() throws -> TestJWK {
        let required = ["alg", "crv", "k", "kty", "pub", "x", "y"].filter { members[$0] != nil }
            .filter { $0 != "alg" || members["pub"] != nil }
        let text = "{" + required.map { "\"\($0)\":\(members[$0] ?? "")" }.joined(separator: ",") + "}"
        let digest = try Backends.openSSL.backend.sha256(Array(text.utf8).bytes)
        return with("kid", bytes: Array(digest[..<8]))
    }

    var withoutPrivateKey: TestJWK { with("d", nil).with("priv", nil) }

    var json: String {
        let sorted = members.sorted { $0.key < $1.key }
        return "{" + sorted.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",") + "}"
    }

    func record(_ backend: any CryptoBackend = DefaultBackend.shared) throws -> KeyRecord {
        try KeyRecord(JSONText(Array(json.utf8)).root, backend: backend)
    }

    func keyset(_ backend: any CryptoBackend = DefaultBackend.shared) throws -> Keyset {
        try Keyset(json: Array(json.utf8), backend: backend)
    }
}

/// Conformance/vectors/pushcrypt-v1.json: made by the Python reference.
struct OwnVectors: Decodable {
    struct ContextInfo: Decodable {
        let key: String
        let signer: String
        let hex: HexBytes
    }

    struct Opened: Decodable, Sendable, CustomStringConvertible {
        let name: String
        let key: String
        let trust: [String]?
        let payload: String
        let id: String
        let iat: Int64
        let exp: Int64

        var description: String { name }
    }

    let topic: String
    let inner: String
    let device: String
    let keys: [String: [String: String]]
    let contextInfo: ContextInfo
    let opened: [Opened]

    /// Those of xwing-keys.json.
    static let xWingKeys: [String: [String: String]] = {
        struct File: Decodable { let keys: [String: [String: String]] }
        return try! Vectors.loadOwn("xwing-keys.json", as: File.self).keys
    }()

    static let shared = try! Vectors.loadOwn("pushcrypt-v1.json", as: OwnVectors.self)
}
