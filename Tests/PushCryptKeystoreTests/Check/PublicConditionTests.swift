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

    @Test("a set made from the keyset is whole, and plausible without the keys")
    func own() {
        #expect(condition(published) == .whole)
        #expect(condition(published, withKeys: false) == .plausible)
    }

    @Test("no file is missing, and unneeded for shared keys")
    func missing() throws {
        #expect(condition(nil) == .missing)
        let shared = try Self.keyset(.shared, sequence: 1)
        #expect(PublicCondition(nil, shared.metadata, nil) == .unneeded)
    }

    @Test("a set with a lower sequence is stale, and one with a higher sequence is newer", arguments: [true, false])
    func otherChange(_ withKeys: Bool) throws {
        var other = keyset
        other.metadata.sequence = 4
        #expect(condition(try other.published(), withKeys: withKeys) == .stale(sequence: 4))
        other.metadata.sequence = 6
        #expect(condition(try other.published(), withKeys: withKeys) == .newer(sequence: 6))
    }

    @Test("a set with a changed byte is foreign, stale or newer", arguments: [true, false])
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

    @Test("a set that lacks a key or has keys of another keyset is foreign", arguments: [true, false])
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

    @Test("a set with private keys or psks is foreign", arguments: [true, false])
    func secrets(_ keepsPSK: Bool) throws {
        let set = try keyset.keyset()
        let bytes = try (keepsPSK ? set.publicKeyset(keepingPSK: true) : set).jwkSet(withHistory: false)
        guard case .foreign(let flaw) = condition(bytes) else {
            Issue.record("the secrets were not detected")
            return
        }
        #expect(flaw.contains("secrets"))
    }
}
