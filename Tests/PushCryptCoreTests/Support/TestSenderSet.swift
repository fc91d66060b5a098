import PushCryptPrimitives
import PushCryptTestSupport

@testable import PushCryptCore

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
