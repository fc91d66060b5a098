import PushCryptCore
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptKeysets

/// Sample keysets and secrets.
enum SealedSample {
    /// The cheapest parameters, so that tests are fast.
    static let cheap = try! ScryptParameters(n: 2, r: 1, p: 1)

    static func passphrase(_ text: String = "correct horse") -> KeysetSecret {
        .passphrase(SecretBytes(copying: Array(text.utf8).bytes))
    }

    /// Secrets `s1`, `s2` and so on.
    static func secrets(_ secrets: [KeysetSecret]) throws -> KeysetSecrets {
        try KeysetSecrets(
            ofLog: secrets.enumerated().map { (SecretName("s\($0.offset + 1)")!, $0.element) }, cheap)
    }

    /// The kinds and numbers of the keys in a keyset.
    struct Shape: Sendable, CustomStringConvertible {
        let description: String
        let kind: KeyKind
        var type = KeyPairType.p256
        var psk = false
        var keys = 1
        /// The number of destroyed keys, which have no material.
        var destroyed = 0

        static let all = [
            Shape(description: "P-256 with psk, three keys", kind: .recipient, psk: true, keys: 3),
            Shape(description: "X25519 and a destroyed key", kind: .recipient, type: .x25519, destroyed: 1),
            Shape(description: "shared, two keys, two destroyed", kind: .shared, keys: 2, destroyed: 2),
            Shape(description: "sender", kind: .sender),
            Shape(description: "publisher, two keys", kind: .publisher, keys: 2),
            Shape(description: "only destroyed keys", kind: .sender, keys: 0, destroyed: 2),
            Shape(description: "forty keys", kind: .shared, keys: 40),
        ]
    }

    static func keyset(
        _ shape: Shape = .all[3], _ secrets: KeysetSecrets? = nil
    ) throws -> (log: KeysetLog, material: KeysetMaterial) {
        let (time, historyKey) = (UnixTime(1_772_355_600), try secrets.map { _ in try HistoryKey.random() })
        var (changes, material) = (
            KeysetChanges(), KeysetMaterial(records: [:], secrets: secrets, historyKey: historyKey)
        )
        for number in 0..<(shape.keys + shape.destroyed) {
            let record = try KeyRecord.generate(
                shape.kind, type: shape.type, psk: shape.psk, backend: DefaultBackend.shared)
            var key = KeysetChanges.Key(record.kid)
            (key.jwk, key.demandsPSK) = (try PublicJWK(record), record.hasPSK)
            key.moments = [.createdAt: time, .activatesAt: time]
            if number < shape.keys {
                material.records[record.kid] = record
            } else {
                key.moments[.destroyedAt] = time
            }
            changes.keys.append(key)
        }
        changes.secrets = secrets?.names
        return (try KeysetLog(creating: .random(), shape.kind, at: time, who: "someone", changes), material)
    }

    /// The value of a member of the last row's object `sealed`.
    static func sealed(_ name: String, of file: [UInt8]) throws -> JSONValue {
        let last = try #require(file.dropLast().split(separator: UInt8(ascii: "\n")).last)
        return try #require(JSONText(Array(last)).root["sealed"]?[name])
    }
}

extension KeysetMaterial {
    /// Every record as a JWK with its secrets.
    func jwks() throws -> [KeyID: String] {
        try records.mapValues { record in
            var bytes = [UInt8]()
            try record.appendJWK(to: &bytes)
            return String(decoding: bytes, as: UTF8.self)
        }
    }
}
