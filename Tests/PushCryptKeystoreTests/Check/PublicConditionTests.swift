import PushCryptCore
import PushCryptKeysets
import PushCryptKeystore
import Testing

@Suite("PublicCondition")
struct PublicConditionTests {
    private let keyset: StoredKeyset
    private let published: [UInt8]

    init() throws {
        keyset = try Self.keyset(sequence: 5)
        published = try #require(try keyset.published())
    }

    private static func keyset(
        _ kind: KeyKind = .recipient, sequence: Int64, count: Int = 2
    ) throws -> StoredKeyset {
        var (timeline, records, traits) = (KeyTimeline([]), [KeyID: KeyRecord](), [KeyID: KeysetMetadata.Traits]())
        for _ in 0..<count {
            let record = try KeyRecord.generate(kind, psk: kind == .recipient, backend: DefaultBackend.shared)
            timeline.keys.append(.init(record.kid, KeyLifecycle(activatesAt: UnixTime(0))))
            records[record.kid] = record
            traits[record.kid] = .init(suite: record.algorithm, demandsPSK: record.hasPSK)
        }
        let metadata = KeysetMetadata(
            kind: kind, sequence: sequence, timeline: timeline, policy: .standard, audit: .none, traits: traits)
        return StoredKeyset(metadata: metadata, records: records, protection: .plaintext, secret: nil)
    }

    private func condition(_ bytes: [UInt8]?, withKeys: Bool = true) -> PublicCondition {
        PublicCondition(bytes, keyset.metadata, withKeys ? keyset.records : nil)
    }

    @Test("the keyset's own set")
    func own() {
        #expect(condition(published) == .whole)
        #expect(condition(published, withKeys: false) == .plausible)
    }

    @Test("none")
    func missing() throws {
        #expect(condition(nil) == .missing)
        let shared = try Self.keyset(.shared, sequence: 1)
        #expect(PublicCondition(nil, shared.metadata, nil) == .unneeded)
    }

    @Test("of another change of the same keyset", arguments: [true, false])
    func otherChange(_ withKeys: Bool) throws {
        var other = keyset
        other.metadata.sequence = 4
        #expect(condition(try other.published(), withKeys: withKeys) == .stale(sequence: 4))
        other.metadata.sequence = 6
        #expect(condition(try other.published(), withKeys: withKeys) == .newer(sequence: 6))
    }

    @Test("every changed byte is seen, with and without the private keys", arguments: [true, false])
    func changed(_ withKeys: Bool) {
        for index in published.indices {
            var bytes = published
            bytes[index] ^= 1
            switch condition(bytes, withKeys: withKeys) {
            case .foreign, .stale, .newer: break
            case let other: Issue.record("byte \(index): \(other)")
            }
        }
    }

    @Test("a key too few, and one of another keyset", arguments: [true, false])
    func keys(_ withKeys: Bool) throws {
        var fewer = keyset
        fewer.metadata.timeline.keys.removeLast()
        let foreign = condition(try fewer.published(), withKeys: withKeys)
        #expect(foreign == .foreign("it was changed"))
        let other = try Self.keyset(sequence: 5)
        #expect(
            condition(try other.published(), withKeys: withKeys)
                == .foreign("it contains keys that are not in the keyset"))
    }

    @Test("secrets in it", arguments: [true, false])
    func secrets(_ keepsPSK: Bool) throws {
        let set = try keyset.keyset()
        let bytes = try (keepsPSK ? set.publicKeyset(keepingPSK: true) : set).jwkSet(withHistory: false)
        guard case .foreign(let words) = condition(bytes) else {
            Issue.record("secrets are not seen")
            return
        }
        #expect(words.contains("secrets"))
    }
}
