import PushCryptPrimitives
import PushCryptTestSupport

@testable import PushCryptCore

/// Sets of shared keys, each made from a seed.
enum TestKeysets {
    static func record(_ seed: UInt64) throws -> KeyRecord {
        var random = SplitMix64(seed: seed)
        let secret = SecretBytes(copying: random.bytes(KeyRecord.secretByteCount).bytes)
        let backend = DefaultBackend.shared
        let kid = KeyID(thumbprint: try KeyRecord.thumbprint(of: .shared(secret, device: nil), backend: backend))
        return KeyRecord(kid: kid, material: .shared(secret, device: nil), backend: backend)
    }

    /// Records of the seeds 0, 1, … in the order of their kids.
    static func records(_ count: Int) throws -> [KeyRecord] {
        try (0..<count).map { try record(UInt64($0)) }.sorted { $0.kid < $1.kid }
    }

    /// One key for each lifecycle, in the order of their kids.
    static func keyset(_ lifecycles: [KeyLifecycle], updatedAt: Int64? = nil) throws -> Keyset {
        let entries = try zip(records(lifecycles.count), lifecycles).map { Keyset.Entry($0, $1) }
        return try Keyset(entries, sequence: 1, updatedAt: updatedAt.map { UnixTime($0) })
    }
}

extension KeyLifecycle {
    static func at(
        _ activates: Int64?, created: Int64? = nil, retires: Int64? = nil, expires: Int64? = nil, revoked: Int64? = nil
    ) -> KeyLifecycle {
        func time(_ seconds: Int64?) -> UnixTime? { seconds.map { UnixTime($0) } }
        return KeyLifecycle(
            createdAt: time(created), activatesAt: time(activates), retiresAt: time(retires), expiresAt: time(expires),
            revokedAt: time(revoked))
    }
}

/// Publishers and sets of senders, each made from a seed.
enum TestSenderSet {
    static let now = UnixTime(1_800_000_000)
    static let topic = "com.example.app"
    static let id = [UInt8](repeating: 7, count: SenderSetPublication.setByteCount)

    static func publisher(
        _ seed: UInt8, _ backend: any CryptoBackend = DefaultBackend.shared
    ) throws -> KeyRecord {
        let key = try backend.signingKey([UInt8](repeating: seed, count: 32).bytes)
        return try KeyRecord(.publisher(publicKey: key.publicKey, privateKey: key), backend: backend)
    }

    static func sender(_ seed: Int, _ backend: any CryptoBackend = DefaultBackend.shared) throws -> KeyRecord {
        let key = try backend.signingKey([UInt8(seed % 256), UInt8(seed / 256)].padded.bytes)
        return try KeyRecord(.sender(publicKey: key.publicKey, privateKey: key), backend: backend)
    }

    /// Public sender keys.
    static func keyset(_ count: Int, _ lifecycle: KeyLifecycle = .at(0)) throws -> Keyset {
        try Keyset((0..<count).map { Keyset.Entry(try sender($0), lifecycle) }).publicKeyset(keepingPSK: false)
    }

    static func publication(
        topics: [String] = [topic], sequence: Int64 = 1, issuedAt: UnixTime = now, validUntil: UnixTime? = nil
    ) throws -> SenderSetPublication {
        try SenderSetPublication(
            set: id, topics: topics.map { try Topic($0) }, epoch: 1, sequence: sequence, issuedAt: issuedAt,
            validUntil: validUntil ?? issuedAt + 86_400)
    }
}

extension [UInt8] {
    /// 32 bytes.
    fileprivate var padded: [UInt8] { self + [UInt8](repeating: 0xaa, count: 32 - count) }
}
