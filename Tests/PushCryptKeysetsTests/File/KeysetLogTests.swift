import PushCryptCore
import PushCryptTestSupport
import Testing

@testable import PushCryptKeysets

@Suite("A keyset's log and file as they are written")
struct KeysetLogTests {
    static let time = UnixTime(1_800_000_000)

    /// A keyset of senders with a second line that has every kind of change.
    private static func sample() throws -> (log: KeysetLog, records: [KeyID: KeyRecord]) {
        let records = try (0..<2).map { _ in try KeyRecord.generate(.sender, backend: DefaultBackend.shared) }
        var changes = KeysetChanges()
        for record in records {
            var key = KeysetChanges.Key(record.kid)
            key.jwk = try PublicJWK(record)
            key.moments = [.createdAt: time, .activatesAt: time]
            changes.keys.append(key)
        }
        changes.publication = .init(topics: [try Topic("com.example.app")], validForInSeconds: 86_400)
        changes.epochs = [1: try KeysetID.random()]
        changes.writer = "a host"
        changes.policy = .standard
        changes.secrets = [SecretName("one")!, SecretName("two")!]
        let reason = KeysetLine.Reason("a \"reason\" \u{e9}", salt: [UInt8](repeating: 7, count: 16))
        let log = try KeysetLog(creating: .random(), .sender, at: time, who: "someone", why: reason, changes)
        return (log, Dictionary(uniqueKeysWithValues: records.map { ($0.kid, $0) }))
    }

    @Test("A log that was written is read with the same lines, bytes and state")
    func roundTrip() throws {
        var log = try Self.sample().log
        var changes = KeysetChanges()
        (changes.issuedAt, changes.validUntil, changes.epoch) = (Self.time, Self.time + 86_400, 1)
        changes.publisher = .init(try .random(), LogPoint(number: 9, hash: [UInt8](repeating: 1, count: 32)))
        log = try log.appending(.published, at: Self.time, who: "someone", changes)
        var restored = KeysetChanges()
        restored.over = [LogPoint(number: 7, hash: [UInt8](repeating: 2, count: 32))]
        log = try log.appending(.restored, at: Self.time + 5, who: "someone", number: 12, restored)
        let read = try KeysetLog(log.bytes)
        #expect(read.bytes == log.bytes)
        #expect(read.lines == log.lines)
        #expect(read.state == log.state)
        #expect(read.state.head.number == 12)
        #expect(read.extends(restored.over[0]))
        #expect(read.extends(log))
    }

    @Test("A file with keys in clear opens without a secret, and is refused if there is one")
    func plain() throws {
        let (log, records) = try Self.sample()
        let material = KeysetMaterial(records: records, secrets: nil, historyKey: nil)
        let rows = try KeysetRows(material.file(log))
        #expect(Set(try rows.unlocked(nil).records.keys) == Set(records.keys))
        #expect(KeysetLogError.Code.thrown { try rows.unlocked(SealedSample.passphrase()) } == .notEncrypted)
    }

    @Test("A file of more than 4 MiB is refused")
    func tooLarge() throws {
        let bytes = [UInt8](repeating: UInt8(ascii: "\n"), count: KeysetLog.maximumByteCount + 1)
        #expect(KeysetLogError.Code.thrown { try KeysetRows(bytes) } == .tooLarge)
        #expect(KeysetLogError.Code.thrown { try KeysetLog(bytes) } == .tooLarge)
    }

    @Test("No line changes or removes a revocation or a destruction")
    func finalMoments() throws {
        let (log, records) = try Self.sample()
        let kid = records.keys.sorted()[0]
        func line(_ time: UnixTime?) -> KeysetChanges {
            var changes = KeysetChanges()
            var key = KeysetChanges.Key(kid)
            key.moments = [.revokedAt: time, .destroyedAt: time]
            changes.keys = [key]
            return changes
        }
        let first = try log.appending(.revoked, at: Self.time, who: "someone", line(Self.time))
        for later in [nil, Self.time + 9] {
            let state = try first.appending(.rotated, at: Self.time, who: "evil", line(later)).state
            #expect(state.key(kid)?.lifecycle.revokedAt == Self.time)
            #expect(state.key(kid)?.lifecycle.destroyedAt == Self.time)
        }
    }
}
