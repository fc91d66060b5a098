import Foundation
import PushCryptCore
import PushCryptKeysets
import PushCryptKeystore
import PushCryptPrimitives
import Testing

/// Signed sender sets: each implementation accepts and refuses what the other signed.
@Suite("signed sender sets, against the Python reference", .enabled(if: Python.isAvailable, Python.missing))
struct SenderSetTests {
    private static let now = UnixTime(1_800_000_000)
    private static let topics = ["com.example.app", "com.example.other"]

    private static func keyset(_ kind: KeyKind, _ count: Int) throws -> StoredKeyset {
        let entries = try (0..<count).map { _ in
            Keyset.Entry(
                try KeyRecord.generate(kind, backend: DefaultBackend.shared),
                KeyLifecycle(createdAt: now, activatesAt: now))
        }
        var metadata = KeysetMetadata(try Keyset(entries, sequence: 3, updatedAt: now))
        if kind == .sender {
            metadata.publication = try PublicationPolicy(
                set: DefaultBackend.shared.randomBytes(count: 16), topics: topics.map { try Topic($0) }, epoch: 2,
                validForInSeconds: 60 * 86_400)
        }
        let records = Dictionary(uniqueKeysWithValues: entries.map { ($0.record.kid, $0.record) })
        return StoredKeyset(metadata: metadata, records: records, protection: .plaintext, secret: nil)
    }

    /// Both implementations' results; the codes of the errors have the same names.
    private static func outcomes(
        _ document: [UInt8], _ pins: [UInt8], topic: String = topics[0], _ stored: Answer.SetState? = nil,
        at time: UnixTime = now
    ) throws -> (swift: Result<Answer.SetState, Refused>, python: Result<Answer.SetState, Refused>) {
        let answer = try Reference.ask(
            Request.AcceptSet(
                pins: String(decoding: pins, as: UTF8.self), topic: topic,
                document: String(decoding: document, as: UTF8.self), stored: stored, now: "\(time)"))
        let python: Result<Answer.SetState, Refused> =
            try answer.error.map { .failure(Refused(code: $0)) } ?? .success(#require(answer.state))
        do {
            return (.success(try accepted(document, pins, topic, stored, at: time)), python)
        } catch let error as KeyError {
            return (.failure(Refused(code: error.code.description)), python)
        }
    }

    private struct Refused: Error, Equatable {
        let code: String
    }

    private static func accepted(
        _ document: [UInt8], _ pins: [UInt8], _ topic: String, _ stored: Answer.SetState?, at time: UnixTime
    ) throws -> Answer.SetState {
        let pins = try SenderSetPins(json: pins)
        let known = stored.map { stored in
            SenderSetState(
                epoch: stored.epoch, sequence: stored.seq,
                digest: Base64URL.decode(Array(stored.digest.utf8)[...]) ?? [],
                revoked: Set(stored.revoked.compactMap { Base64URL.decode(Array($0.utf8)[...]) }))
        }
        let set = try SignedSenderSet.verify(document, publishers: pins.publishers)
        let state = try SenderSetState(
            accepting: set, pins: pins, topic: Topic(topic), stored: known,
            storedIssuedAt: stored.flatMap { UnixTime(rfc3339: $0.issuedAt) }, at: time)
        return Answer.SetState(
            epoch: state.epoch, seq: state.sequence, digest: Base64URL.encode(state.digest),
            issuedAt: "\(set.publication.issuedAt)", revoked: state.revoked.map { Base64URL.encode($0) }.sorted())
    }

    /// The document and the pins, signed by Swift or by Python.
    private static func signed(
        _ senders: StoredKeyset, _ publishers: StoredKeyset, byPython: Bool
    ) throws -> (document: [UInt8], pins: [UInt8]) {
        let set = try PublishedSet(of: senders, by: publishers, at: "Publisher/app")
        guard byPython else { return (try set.document(at: now), try set.pins()) }
        let publication = try #require(senders.metadata.signedSet)
        let jwks = try publishers.records.values.map { record in
            var jwk = [UInt8]()
            try record.appendJWK(to: &jwk)
            return try JSONDecoder().decode(JWK.self, from: Data(jwk))
        }
        let answer = try Reference.ask(
            Request.SignSet(
                keyset: String(decoding: try #require(try senders.published()), as: UTF8.self),
                set: Base64URL.encode(publication.set), topics: topics, epoch: publication.epoch,
                seq: publication.sequence, issuedAt: publication.issuedAt.seconds,
                validUntil: publication.validUntil.seconds, publishers: jwks))
        return (Array(try #require(answer.text).utf8), try set.pins())
    }

    @Test("both accept what Swift and Python sign, with the same state", arguments: [false, true], [1, 4])
    func accepted(byPython: Bool, publishers: Int) throws {
        var senders = try Self.keyset(.sender, 3)
        senders.metadata.timeline.keys[1].lifecycle.revokedAt = Self.now
        let (document, pins) = try Self.signed(senders, Self.keyset(.publisher, publishers), byPython: byPython)
        let first = try Self.outcomes(document, pins)
        let state = try first.swift.get()
        #expect(first.python == .success(state))
        #expect(state.epoch == 2 && state.seq == 3 && state.revoked.count == 1)
        let again = try Self.outcomes(document, pins, state)
        #expect(again.swift == .success(state) && again.python == .success(state))
    }

    @Test("both refuse the same documents for the same reason", arguments: [false, true])
    func refused(byPython: Bool) throws {
        let (senders, publishers) = (try Self.keyset(.sender, 2), try Self.keyset(.publisher, 2))
        let (document, pins) = try Self.signed(senders, publishers, byPython: byPython)
        let foreign = try Self.signed(Self.keyset(.sender, 2), Self.keyset(.publisher, 2), byPython: byPython)
        let state = try Self.outcomes(document, pins).swift.get()
        func stored(
            epoch: Int64 = 2, seq: Int64 = 3, digest: String = state.digest, issuedAt: UnixTime = Self.now
        ) -> Answer.SetState {
            Answer.SetState(epoch: epoch, seq: seq, digest: digest, issuedAt: "\(issuedAt)", revoked: [])
        }
        let otherDigest = Base64URL.encode([UInt8](repeating: 0, count: 32))
        let end = Self.now + 60 * 86_400
        let text = String(decoding: document, as: UTF8.self)
        let cases = [
            ("notSigned", try Self.outcomes(document, foreign.pins)),
            ("otherTopic", try Self.outcomes(document, pins, topic: "com.example.third")),
            ("rolledBack", try Self.outcomes(document, pins, stored(seq: 4))),
            ("rolledBack", try Self.outcomes(document, pins, stored(epoch: 3, seq: 0))),
            ("conflict", try Self.outcomes(document, pins, stored(digest: otherDigest))),
            ("expired", try Self.outcomes(document, pins, at: end)),
            ("expired", try Self.outcomes(document, pins, stored(issuedAt: end))),
            ("malformed", try Self.outcomes(Array((text + "x").utf8), pins)),
            ("malformed", try Self.outcomes(Array(text.replacing("\"payload\"", with: "\"pay\"").utf8), pins)),
        ]
        for (code, outcomes) in cases {
            #expect(outcomes.swift == .failure(Refused(code: code)))
            #expect(outcomes.python == .failure(Refused(code: code)))
        }
    }
}
