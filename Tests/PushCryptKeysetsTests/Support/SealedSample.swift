import PushCryptCore
import PushCryptKeysets
import PushCryptKeystore
import PushCryptPrimitives

/// Sample keysets and secrets.
enum SealedSample {
    static let time = UnixTime(1_772_355_600)

    /// The cheapest parameters, so that tests are fast.
    static let cheap = try! ScryptParameters(n: 2, r: 1, p: 1)

    static func passphrase(_ text: String = "correct horse") -> KeysetSecret {
        let bytes = Array(text.utf8)
        return .passphrase(SecretBytes(copying: bytes.bytes))
    }

    /// The kinds and numbers of the keys in a keyset.
    struct Shape: Sendable, CustomStringConvertible {
        let description: String
        let kind: KeyKind
        var type = KeyPairType.p256
        var psk = false
        var keys = 1
        /// The number of destroyed keys, which have only metadata.
        var destroyed = 0

        static let sender = Shape(description: "sender", kind: .sender)

        static let all = [
            Shape(description: "P-256", kind: .recipient),
            Shape(description: "P-256 with psk, three keys", kind: .recipient, psk: true, keys: 3),
            Shape(description: "X25519", kind: .recipient, type: .x25519),
            Shape(
                description: "X25519 with psk and a tombstone", kind: .recipient, type: .x25519, psk: true,
                destroyed: 1),
            Shape(description: "shared, two keys, two tombstones", kind: .shared, keys: 2, destroyed: 2),
            sender, Shape(description: "publisher, two keys", kind: .publisher, keys: 2),
            Shape(description: "only tombstones", kind: .sender, keys: 0, destroyed: 2),
            Shape(description: "forty keys", kind: .shared, keys: 40),
        ]
    }

    static func keyset(
        _ shape: Shape = .sender, _ protection: Protection = .passphrase(cheap), _ secret: KeysetSecret? = passphrase()
    ) throws -> StoredKeyset {
        var (timeline, traits, records) = (
            KeyTimeline([], updatedAt: time), [KeyID: KeysetMetadata.Traits](), [KeyID: KeyRecord]()
        )
        for number in 0..<(shape.keys + shape.destroyed) {
            let record = try KeyRecord.generate(
                shape.kind, type: shape.type, psk: shape.psk, backend: DefaultBackend.shared)
            let isDestroyed = number >= shape.keys
            let lifecycle = KeyLifecycle(
                createdAt: time, activatesAt: time, revokedAt: isDestroyed ? time : nil,
                destroyedAt: isDestroyed ? time : nil)
            timeline.keys.append(.init(record.kid, lifecycle))
            traits[record.kid] = .init(suite: record.algorithm, demandsPSK: record.hasPSK)
            if !isDestroyed { records[record.kid] = record }
        }
        let audit = AuditHead(
            count: 2, hash: [UInt8](repeating: 7, count: 32), lastLines: [#"{"n":1,"why":"é \"'"}"#, #"{"n":2}"#])
        let metadata = KeysetMetadata(
            kind: shape.kind, sequence: 7, timeline: timeline, policy: .standard, audit: audit, traits: traits)
        return StoredKeyset(metadata: metadata, records: records, protection: protection, secret: secret)
    }

    /// The text of an encrypted keyset's file.
    static func text(_ shape: Shape = .sender, _ secret: KeysetSecret = passphrase()) throws -> String {
        String(decoding: try keyset(shape, .passphrase(cheap), secret).fileText(), as: UTF8.self)
    }
}

extension StoredKeyset {
    /// Every record as a JWK with its secrets.
    func jwks() throws -> [KeyID: String] {
        try records.mapValues { record in
            var bytes = [UInt8]()
            try record.appendJWK(to: &bytes)
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    /// The base64url of every `d`, `k` and `psk`.
    func secrets() throws -> [String] {
        try jwks().values.flatMap { jwk in
            let root = try JSONText(Array(jwk.utf8)).root
            return ["d", "k", "psk"].compactMap { root[$0]?.string }
        }
    }
}
